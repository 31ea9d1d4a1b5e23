"""lf-sql gateway: gateways, their crons, and the runs of these."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any
from uuid import UUID

import click

from lf_sql.cli.candidates import complete, zones
from lf_sql.cli.context import emit, emit_one, options
from lf_sql.cli.lazy import SuggestingGroup
from lf_sql.cli.params import Json
from lf_sql.cli.session import as_asked, as_owner_of, as_tenant, one, tell_namesakes
from lf_sql.cli.terminal import words
from lf_sql.cli.terminal.ask import ask, yes_option
from lf_sql.cli.terminal.table import Column, Row, short_ids

LIST = """
select g.id, g.name, g.endpoint, count(c.id) as crons,
  count(c.id) filter (where c.is_active) as active,
  min(c.next_run_at) filter (where c.is_active) as next_run_at, max(c.last_run_at) as last_run_at
from agents.gateways as g
left join agents.gateway_crons as c on c.gateway_id = g.id
group by g.id
order by g.name, g.id
"""
CRON_COLUMNS = [
    *("id", "operation", "cron_expr", "timezone", "is_active", "next_run_at"),
    *("last_run_at", "last_status"),
]
RUN_COLUMNS = [
    *("id", "operation", "scheduled_for", "status", "created_at", "completed_at"),
    *("worker_id", "error"),
]


def _crons(rows: Sequence[Row]) -> list[Column]:
    """Of gateway cron list."""
    ids = short_ids(rows, "id")

    def last(row: Row) -> str | None:
        return row["last_run_at"] and f"{row['last_status']}, {words.distance(row['last_run_at'])}"

    def next_slot(row: Row) -> str | None:
        is_to_come = row["is_active"] and row["next_run_at"]
        return (
            words.clock(row["next_run_at"], words.zone_of(row["timezone"])) if is_to_come else None
        )

    return [
        Column("ID", ids("id"), 1, least=8),
        Column("OPERATION", "operation", 0, least=14, most=30),
        Column("WHEN", "cron_expr", 1, least=12, most=20),
        Column("ZONE", "timezone", 4, least=12),
        Column("NEXT", next_slot, 2),
        Column("LAST", last, 3, short=lambda row: row["last_status"]),
        Column("STATUS", lambda row: "enabled" if row["is_active"] else "disabled", 0),
        Column("FULL ID", "id", 9, is_wide=True),
    ]


Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


def _told(row: dict[str, Any], columns: list[str] | None = None) -> None:
    """What was made: its id, or all of it with --json."""
    if options().as_json:
        emit_one({name: row[name] for name in columns or row})
    else:
        click.echo(row["id"])


def _gone(key: UUID, what: str) -> None:
    """What is not there any more."""
    if options().as_json:
        emit_one({"id": key})
    else:
        click.echo(f"{key}\t{what}")


def _gateway(command: Callable[..., Any]) -> Callable[..., Any]:
    return click.argument("gateway", shell_complete=complete("gateway"))(command)


def _cron(command: Callable[..., Any]) -> Callable[..., Any]:
    return click.argument("cron", shell_complete=complete("cron"))(command)


def _payload(help_text: str) -> Decorator:
    return click.option("--payload", type=Json(), help=help_text)


@click.command("list", epilog="\b\nExample:\n  lf-sql gateway list")
def list_gateways() -> None:
    """Gateways, with how many crons they have and when the next is due."""
    with as_asked() as conn:
        rows = conn.execute(LIST.encode()).fetchall()
    columns = ["id", "name", "endpoint", "crons", "active", "next_run_at", "last_run_at"]
    emit(rows, columns, empty="no gateways: lf-sql gateway create NAME")


@click.command(epilog="\b\nExample:\n  lf-sql gateway create eu-west --endpoint https://gw.example")
@click.argument("name")
@click.option("--endpoint", help="Where it is reached.")
@click.option("--id", "gateway_id", type=click.UUID, help="Changes this one instead.")
def create(name: str, endpoint: str | None, gateway_id: UUID | None) -> None:
    """Create a gateway for the tenant of --as, or for the only tenant."""
    with as_tenant() as conn:
        row = one(
            conn,
            "select g.* from public.fn_upsert_gateway(%s, %s, %s) as g",
            [gateway_id, name, endpoint],
        )
        tell_namesakes(conn, "gateway", name)
    _told(row)


@click.command(epilog="\b\nExample:\n  lf-sql gateway delete eu-west --yes")
@_gateway
@yes_option
def delete(gateway: str, yes: bool) -> None:
    """Delete a gateway with its crons and their runs."""
    ask(f"Delete gateway {gateway} with its crons and their runs?", yes)
    with as_owner_of("gateway", gateway) as (conn, found):
        conn.execute("select public.fn_delete_gateway(%s::uuid)", [found.id])
    _gone(found.id, "deleted")


@click.command(epilog="\b\nExample:\n  lf-sql gateway runs eu-west --limit 50")
@_gateway
@click.option(
    "--limit", type=click.IntRange(1, 1000), default=20, show_default=True, help="How many."
)
def runs(gateway: str, limit: int) -> None:
    """The newest runs of a gateway's crons."""
    with as_owner_of("gateway", gateway) as (conn, found):
        rows = conn.execute(
            "select r.* from public.fn_get_gateway_cron_runs(%s, %s) as r", [found.id, limit]
        ).fetchall()
    emit(rows, RUN_COLUMNS, empty="no runs")


@click.command("list", epilog="\b\nExample:\n  lf-sql gateway cron list eu-west")
@_gateway
def list_crons(gateway: str) -> None:
    """The crons of a gateway."""
    with as_owner_of("gateway", gateway) as (conn, found):
        rows = conn.execute(
            "select c.* from public.fn_gateway_cron_list(%s::uuid) as c", [found.id]
        ).fetchall()
    empty = f"no crons: lf-sql gateway cron add {gateway} OPERATION EXPR"
    emit(rows, CRON_COLUMNS, empty=empty, view=_crons)


@click.command(epilog='\b\nExample:\n  lf-sql gateway cron add eu-west health_probe "*/5 * * * *"')
@_gateway
@click.argument("operation")
@click.argument("expr")
@click.option(
    "--timezone",
    "--tz",
    default="UTC",
    show_default=True,
    shell_complete=zones,
    help="Zone of EXPR.",
)
@_payload("A JSON object for its runs: JSON, @FILE or -.")
@click.option("--disabled", is_flag=True, help="Create it inactive.")
def add(
    gateway: str, operation: str, expr: str, timezone: str, payload: str | None, disabled: bool
) -> None:
    """Add a cron; OPERATION is capability_refresh, health_probe, maintenance_window or your own."""
    with as_owner_of("gateway", gateway) as (conn, found):
        row = one(
            conn,
            "select c.* from public.fn_gateway_cron_add(%s, %s, %s, %s, %s::jsonb, %s) as c",
            [found.id, operation, expr, timezone, payload, not disabled],
        )
    _told(row, CRON_COLUMNS)


@click.command(epilog='\b\nExample:\n  lf-sql gateway cron update CRON --cron "0 3 * * *" --off')
@_cron
@click.option("--operation", help="What its runs do.")
@click.option("--cron", "expr", help="Five fields.")
@click.option("--timezone", "--tz", help="Zone of its expression.", shell_complete=zones)
@_payload("A JSON object for its runs: JSON, @FILE or -.")
@click.option("--on/--off", "is_active", default=None, help="Make it active or inactive.")
def update(
    cron: str,
    operation: str | None,
    expr: str | None,
    timezone: str | None,
    payload: str | None,
    is_active: bool | None,
) -> None:
    """Change a cron; options that are left out change nothing."""
    if all(value is None for value in (operation, expr, timezone, payload, is_active)):
        raise click.UsageError(
            "say what to change: --operation, --cron, --tz, --payload, --on or --off"
        )
    with as_owner_of("cron", cron) as (conn, found):
        row = one(
            conn,
            "select c.* from public.fn_gateway_cron_update(%s, %s, %s, %s, %s::jsonb, %s) as c",
            [found.id, operation, expr, timezone, payload, is_active],
        )
    _told(row, CRON_COLUMNS)


@click.command("run", epilog="\b\nExample:\n  lf-sql gateway cron run CRON")
@_cron
@_payload("In place of the cron's own.")
def run_now(cron: str, payload: str | None) -> None:
    """Run a cron at once, whether it is active or not."""
    with as_owner_of("cron", cron) as (conn, found):
        row = one(
            conn,
            "select r.* from public.fn_gateway_cron_run(%s, %s::jsonb) as r",
            [found.id, payload],
        )
    _told(row, RUN_COLUMNS)


@click.command(epilog="\b\nExample:\n  lf-sql gateway cron remove CRON")
@_cron
def remove(cron: str) -> None:
    """Remove a cron; its runs stay."""
    with as_owner_of("cron", cron) as (conn, found):
        conn.execute("select public.fn_gateway_cron_remove(%s::uuid)", [found.id])
    _gone(found.id, "removed")


cron_group = SuggestingGroup(
    "cron",
    help="A gateway's crons. CRON is an id, the beginning of one, or an operation.",
    epilog="\b\nExample:\n  lf-sql gateway cron list eu-west",
    commands=[list_crons, add, update, run_now, remove],
)
group = SuggestingGroup(
    "gateway",
    help="Gateways and their crons: health probes, capability refreshes, maintenance windows.",
    epilog="\b\nExamples:\n  lf-sql gateway create eu-west --endpoint https://gw.example\n"
    '  lf-sql gateway cron add eu-west health_probe "*/5 * * * *"',
    commands=[list_gateways, create, delete, runs, cron_group],
)
