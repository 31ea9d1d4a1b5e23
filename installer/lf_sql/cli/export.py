"""lf-sql export: a tenant's schedules as a file, or this version's SQL for other tools."""

from __future__ import annotations

from pathlib import Path

import click

from lf_sql import bundle, export
from lf_sql.ascode import exact, present, write
from lf_sql.cli.context import acting, options
from lf_sql.cli.params import FilledPath
from lf_sql.cli.session import installed
from lf_sql.plain import dumps


@click.command(
    epilog="\b\nExamples:\n  lf-sql export --yaml > schedules.yaml\n"
    "  lf-sql export --supabase supabase/migrations && supabase db push"
)
@click.option("--yaml", "as_yaml", is_flag=True, help="A tenant's schedules as a file for apply.")
@click.option(
    "--supabase",
    "folder",
    type=FilledPath(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Write one migration for the Supabase CLI into this folder (supabase/migrations).",
)
def command(as_yaml: bool, folder: Path | None) -> None:
    """Write schedules as a file for `apply`, or this version's SQL for another tool."""
    if as_yaml == (folder is not None):
        raise click.UsageError("either --yaml or --supabase DIR")
    if folder is None:
        _yaml()
        return
    try:
        file = export.supabase(bundle.load(), folder)
    except OSError as error:
        raise click.ClickException(f"{folder}: {error.strerror}") from None
    click.echo(dumps({"file": str(file)}) if options().as_json else file)


def _yaml() -> None:
    with installed() as conn:
        user_id = present.user_of(conn, None, options().as_user)
        row = conn.execute(
            "select p.handle, (select count(*) from lensers.profiles as o "
            "where o.handle = p.handle) as alike from lensers.profiles as p where p.user_id = %s",
            [user_id],
        ).fetchone()
        with acting(conn, user_id):
            found = present.read_all(conn)
    is_clear = row is not None and row["handle"] is not None and row["alike"] == 1
    document = write.document(found, row["handle"] if is_clear and row else str(user_id))
    if options().as_json:
        click.echo(exact.shown(document))
    else:
        click.echo(write.dump(document), nl=False)
