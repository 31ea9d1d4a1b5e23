"""lf-sql workflow: what schedules start."""

from __future__ import annotations

from collections.abc import Sequence

import click

from lf_sql.cli.candidates import complete
from lf_sql.cli.context import emit, emit_one, options
from lf_sql.cli.lazy import SuggestingGroup
from lf_sql.cli.params import Json, Name
from lf_sql.cli.session import as_asked, as_owner_of, as_tenant, one, tell_namesakes
from lf_sql.cli.terminal import words
from lf_sql.cli.terminal.table import Column, Row, short_ids

LONGEST_TITLE = 500  # characters
STATUSES = ["active", "paused", "deprecated", "deleted"]


def _view(rows: Sequence[Row]) -> list[Column]:
    ids = short_ids(rows, "id")
    return [
        Column("TITLE", "title", 0, least=20, most=60),
        Column("STATUS", "status", 0),
        Column("KIND", "kind", 4),
        Column("TRIGGER", "trigger_type", 5),
        Column("VERSION", "version", 3),
        Column("SCHEDULES", "schedules", 2),
        Column("CREATED", lambda row: words.distance(row["created_at"]), 3),
        Column("ID", ids("id"), 1, least=8),
    ]


@click.command("list", epilog="\b\nExample:\n  lf-sql workflow list --status active")
@click.option("--status", type=click.Choice(STATUSES), help="Only these.")
def list_(status: str | None) -> None:
    """Workflows, newest last."""
    with as_asked() as conn:
        rows = conn.execute(
            "select w.id, w.title, w.kind, w.status, w.trigger_type, w.version, "
            "(select count(*) from lenses.workflow_schedules as s where s.workflow_id = w.id) "
            "as schedules, w.created_at from lenses.workflows as w "
            "where %(status)s::text is null or w.status = %(status)s order by w.created_at, w.id",
            {"status": status},
        ).fetchall()
    emit(
        rows,
        ["id", "title", "kind", "status", "trigger_type", "version", "schedules", "created_at"],
        empty="no workflows: lf-sql workflow create TITLE",
        view=_view,
    )


@click.command(
    epilog="\b\nExamples:\n"
    '  lf-sql workflow create "Nightly report"\n'
    '  lf-sql workflow create "Publish" --definition @publish.json'
)
@click.argument("title", type=Name(LONGEST_TITLE))
@click.option("--definition", type=Json(), help='{"nodes":[…],"edges":[…]}: JSON, @FILE or -.')
@click.option(
    "--kind",
    type=click.Choice(["workflow", "battle"]),
    default="workflow",
    show_default=True,
    help="What it is.",
)
@click.option("--id", "workflow_id", type=click.UUID, help="Its id; repeating changes it.")
def create(title: str, definition: str | None, kind: str, workflow_id: str | None) -> None:
    """Create a workflow for the tenant of --as, or for the only tenant."""
    with as_tenant() as conn:
        row = one(
            conn,
            "select w.* from public.fn_upsert_workflow(%s, %s, %s, %s) as w",
            [workflow_id, title, definition, kind],
        )
        tell_namesakes(conn, "workflow", title)
    if options().as_json:
        emit_one(row)
    else:
        click.echo(row["id"])


@click.command(epilog='\b\nExample:\n  lf-sql workflow status "Nightly report" paused')
@click.argument("workflow", shell_complete=complete("workflow"))
@click.argument("status", type=click.Choice(STATUSES))
def status(workflow: str, status: str) -> None:
    """Set its status: only an active workflow is dispatched; deleted deletes its schedules too."""
    with as_owner_of("workflow", workflow) as (conn, found):
        row = one(
            conn, "select w.* from public.fn_set_workflow_status(%s, %s) as w", [found.id, status]
        )
    if options().as_json:
        emit_one(row)
    else:
        click.echo(f"{row['id']}\t{row['status']}")


group = SuggestingGroup(
    "workflow",
    help="Workflows: what schedules start.",
    epilog="\b\nExamples:\n  lf-sql workflow list\n"
    '  lf-sql workflow create "Nightly report" --definition @report.json',
    commands=[list_, create, status],
)
