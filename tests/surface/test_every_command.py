"""What holds for every command there is, taken from the click tree."""

from __future__ import annotations

import click
import pytest

from lf_sql.cli import cli
from lf_sql.cli.context import Options
from tests.support.reading import CHANGES, ELSEWHERE, READS, leaves


def helps(columns: int) -> dict[str, str]:
    """The help of every command and group, by its path."""
    found = {}

    def walk(command: click.Command, ctx: click.Context) -> None:
        found[ctx.command_path] = command.get_help(ctx)
        if isinstance(command, click.Group):
            for name in command.list_commands(ctx):
                child = command.get_command(ctx, name)
                assert child is not None
                walk(child, click.Context(child, ctx, name, terminal_width=columns))

    walk(cli, click.Context(cli, info_name="lf-sql", obj=Options(), terminal_width=columns))
    return found


@pytest.mark.parametrize("columns", [80, 100])
def test_no_help_is_wider_than_the_terminal_or_cut(columns: int) -> None:
    texts = helps(columns)
    assert set(texts) > {f"lf-sql {name}" for name in leaves()}
    wide = [
        f"{path}: {line}"
        for path, text in texts.items()
        for line in text.splitlines()
        if len(line) > columns or line.endswith("...")
    ]
    # `Usage: lf-sql schedule [OPTIONS] COMMAND [ARGS]...` says that more may follow
    assert [line for line in wide if ": Usage: " not in line] == []


def test_each_is_known_to_read_or_to_change() -> None:
    known = [*READS, *CHANGES, *ELSEWHERE]
    assert len(known) == len(set(known))
    assert set(leaves()) == set(known)
