"""lf-sql completion: scripts that complete commands, options, ids and names in a shell."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from lf_sql.cli.context import options
from lf_sql.plain import dumps


@click.command(
    epilog='\b\nExamples:\n  eval "$(lf-sql completion bash)"\n'
    "  lf-sql completion fish > ~/.config/fish/completions/lf-sql.fish"
)
@click.argument("shell", metavar="bash|zsh|fish", type=click.Choice(["bash", "zsh", "fish"]))
def command(shell: str) -> None:
    """Print the completion script of a shell; no database is asked until a key is pressed."""
    from lf_sql.cli import cli

    found = get_completion_class(shell)
    assert found is not None
    source = found(cli, {}, "lf-sql", "_LF_SQL_COMPLETE").source()
    click.echo(dumps({"shell": shell, "source": source}) if options().as_json else source)
