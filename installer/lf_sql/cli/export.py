"""lf-sql export: the same SQL for those who install it by other means."""

from __future__ import annotations

from pathlib import Path

import click

from lf_sql import bundle, export


@click.command(
    epilog="\b\nExample:\n  lf-sql export --supabase supabase/migrations && supabase db push"
)
@click.option(
    "--supabase",
    "folder",
    type=click.Path(file_okay=False, path_type=Path),
    required=True,
    metavar="DIR",
    help="Write one migration for the Supabase CLI into this folder (supabase/migrations).",
)
def command(folder: Path) -> None:
    """Write the SQL of this version as a migration of another tool; no database is touched."""
    try:
        click.echo(export.supabase(bundle.load(), folder))
    except OSError as error:
        raise click.ClickException(f"{folder}: {error.strerror}") from None
