"""lf-sql gateway: gateways, their crons, and the runs of these."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from uuid import UUID

import click

from lf_sql.cli.context import acting, connect, emit, emit_one, note, options, require_installed
from lf_sql.cli.lazy import SuggestingGroup
from lf_sql.db import Connection

CRON_COLUMNS = (
    "id",
    "operation",
    "cron_expr",
    "timezone",
    "is_active",
    "next_run_at",
    "last_run_at",
    "last_status",
)
RUN_COLUMNS = (
    "id",
    "operation",
    "scheduled_for",
    "status",
    "created_at",
    "completed_at",
    "worker_id",
    "error",
)

# Whose row it is: without --as a command acts as the owner of the row that it names.
OWNERS = {
    "gateway": "select p.user_id from agents.gateways as x "
    "join lensers.profiles as p on p.id = x.lenser_id where x.id = %s",
    "cron": "select p.user_id from agents.gateway_crons as x "
    "join lensers.profiles as p on p.id = x.lenser_id where x.id = %s",
}


@contextmanager
def _as_owner(kind: str, row_id: UUID) -> Iterator[Connection]:
    with connect() as conn:
        require_installed(conn)
        owner = None
        if options().as_user is None:
            found = conn.execute(OWNERS[kind].encode(), [row_id]).fetchone()
            owner = found["user_id"] if found else UUID(int=0)
        with acting(conn, owner):
            yield conn


@contextmanager
def _as_tenant() -> Iterator[Connection]:
    if options().as_user is None:
        raise click.UsageError("whose gateways? Name the tenant with --as USER_UUID")
    with connect() as conn:
        require_installed(conn)
        with acting(conn):
            yield conn


def _rows(conn: Connection, sql: str, *args: Any) -> list[dict[str, Any]]:
    return conn.execute(sql.encode(), args or None).fetchall()


def _pick(row: dict[str, Any], columns: tuple[str, ...]) -> dict[str, Any]:
    return {name: row[name] for name in columns}


def _json(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    if value is not None:
        try:
            json.loads(value)
        except ValueError as error:
            raise click.BadParameter(f"not JSON: {error}") from None
    return value


@click.group(cls=SuggestingGroup)
def group() -> None:
    """Gateways and their crons: health probes, capability refreshes, maintenance windows."""


@group.command("list", epilog="\b\nExample:\n  lf-sql gateway list --as USER_UUID")
def list_gateways() -> None:
    """The tenant's gateways."""
    with _as_tenant() as conn:
        emit(
            _rows(conn, "select g.* from public.fn_get_gateways() as g"),
            ("id", "name", "endpoint", "created_at"),
            empty="no gateways",
        )


@group.command(
    "create",
    epilog="\b\nExample:\n"
    "  lf-sql gateway create eu-west --endpoint https://gw.example --as USER_UUID",
)
@click.argument("name")
@click.option("--endpoint", help="Where the gateway is reached.")
@click.option(
    "--id", "gateway_id", type=click.UUID, help="Its id, so that a deploy can be repeated."
)
def create(name: str, endpoint: str | None, gateway_id: UUID | None) -> None:
    """Make a gateway, or change the one of that id."""
    with _as_tenant() as conn:
        emit_one(
            _rows(
                conn,
                "select g.* from public.fn_upsert_gateway(%s, %s, %s) as g",
                gateway_id,
                name,
                endpoint,
            )[0]
        )


@group.command("delete", epilog="\b\nExample:\n  lf-sql gateway delete GATEWAY --force")
@click.argument("gateway", type=click.UUID)
@click.option("--force", is_flag=True, help="Do not ask.")
def delete(gateway: UUID, force: bool) -> None:
    """Delete a gateway with its crons and their runs."""
    if not force:
        click.confirm("Delete the gateway with its crons and their runs?", abort=True)
    with _as_owner("gateway", gateway) as conn:
        conn.execute("select public.fn_delete_gateway(%s)", [gateway])
    note("deleted")


@group.command("crons", epilog="\b\nExample:\n  lf-sql gateway crons GATEWAY")
@click.argument("gateway", type=click.UUID)
def crons(gateway: UUID) -> None:
    """The crons of a gateway."""
    with _as_owner("gateway", gateway) as conn:
        emit(
            _rows(conn, "select c.* from public.fn_gateway_cron_list(%s) as c", gateway),
            CRON_COLUMNS,
            empty="no crons",
        )


@group.command("runs", epilog="\b\nExample:\n  lf-sql gateway runs GATEWAY --limit 50")
@click.argument("gateway", type=click.UUID)
@click.option("--limit", type=click.IntRange(1, 1000), default=20, show_default=True)
def runs(gateway: UUID, limit: int) -> None:
    """The newest runs of a gateway's crons."""
    with _as_owner("gateway", gateway) as conn:
        emit(
            _rows(
                conn, "select r.* from public.fn_get_gateway_cron_runs(%s, %s) as r", gateway, limit
            ),
            RUN_COLUMNS,
            empty="no runs",
        )


@group.command(
    "cron-add",
    epilog='\b\nExample:\n  lf-sql gateway cron-add GATEWAY health_probe "*/5 * * * *"',
)
@click.argument("gateway", type=click.UUID)
@click.argument("operation")
@click.argument("cron")
@click.option("--timezone", default="UTC", show_default=True)
@click.option(
    "--payload", default="{}", show_default=True, callback=_json, help="A JSON object for its runs."
)
@click.option("--inactive", is_flag=True, help="Do not switch it on yet.")
def cron_add(
    gateway: UUID, operation: str, cron: str, timezone: str, payload: str, inactive: bool
) -> None:
    """Add a cron: OPERATION is capability_refresh, health_probe, or a name of its own."""
    with _as_owner("gateway", gateway) as conn:
        row = _rows(
            conn,
            "select c.* from public.fn_gateway_cron_add(%s, %s, %s, %s, %s::jsonb, %s) as c",
            gateway,
            operation,
            cron,
            timezone,
            payload,
            not inactive,
        )[0]
        emit_one(_pick(row, CRON_COLUMNS))


@group.command(
    "cron-update", epilog='\b\nExample:\n  lf-sql gateway cron-update CRON --cron "0 3 * * *"'
)
@click.argument("cron_id", metavar="CRON", type=click.UUID)
@click.option("--operation")
@click.option("--cron", "cron_expr", help="Five fields.")
@click.option("--timezone")
@click.option("--payload", callback=_json, help="A JSON object for its runs.")
@click.option("--on/--off", "is_active", default=None, help="Switch it on or off.")
def cron_update(
    cron_id: UUID,
    operation: str | None,
    cron_expr: str | None,
    timezone: str | None,
    payload: str | None,
    is_active: bool | None,
) -> None:
    """Change a cron; what is not named stays."""
    with _as_owner("cron", cron_id) as conn:
        row = _rows(
            conn,
            "select c.* from public.fn_gateway_cron_update(%s, %s, %s, %s, %s::jsonb, %s) as c",
            cron_id,
            operation,
            cron_expr,
            timezone,
            payload,
            is_active,
        )[0]
        emit_one(_pick(row, CRON_COLUMNS))


@group.command("cron-run", epilog="\b\nExample:\n  lf-sql gateway cron-run CRON")
@click.argument("cron_id", metavar="CRON", type=click.UUID)
@click.option("--payload", callback=_json, help="In place of the cron's own.")
def cron_run(cron_id: UUID, payload: str | None) -> None:
    """Make a run of a cron at once."""
    with _as_owner("cron", cron_id) as conn:
        row = _rows(
            conn, "select r.* from public.fn_gateway_cron_run(%s, %s::jsonb) as r", cron_id, payload
        )[0]
        emit_one(_pick(row, RUN_COLUMNS))


@group.command("cron-remove", epilog="\b\nExample:\n  lf-sql gateway cron-remove CRON")
@click.argument("cron_id", metavar="CRON", type=click.UUID)
def cron_remove(cron_id: UUID) -> None:
    """Remove a cron; its runs stay."""
    with _as_owner("cron", cron_id) as conn:
        conn.execute("select public.fn_gateway_cron_remove(%s)", [cron_id])
    note("removed")
