"""A psql script that lets the directory's database read over all cells, by postgres_fdw."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from psycopg import conninfo, sql

from lf_sql import db
from lf_sql.cells.directory import Cell, Directory
from lf_sql.errors import LfSqlError
from lf_sql.template import filled

Columns = tuple[tuple[str, str], ...]
_ID, _TIME, _TEXT, _COUNT, _IS = "uuid", "timestamptz", "text", "bigint", "boolean"

# The views lenses.cell_*, by what they are of: their columns, as they stand in a cell.
KINDS: dict[str, Columns] = {
    "health": (
        ("is_frozen", _IS),
        ("frozen_reason", _TEXT),
        ("last_tick_at", _TIME),
        ("tenants", _COUNT),
        ("departed_tenants", _COUNT),
        ("active_schedules", _COUNT),
        ("overdue_schedules", _COUNT),
        ("waiting_runs", _COUNT),
        ("running_runs", _COUNT),
        ("events", _COUNT),
    ),
    "runs": (
        ("lenser_id", _ID),
        ("run_id", _ID),
        ("workflow_id", _ID),
        ("schedule_id", _ID),
        ("scheduled_for", _TIME),
        ("status", _TEXT),
        ("attempt", "integer"),
        ("worker_id", _TEXT),
        ("lease_expires_at", _TIME),
        ("created_at", _TIME),
    ),
    "schedules": (
        ("lenser_id", _ID),
        ("schedule_id", _ID),
        ("workflow_id", _ID),
        ("name", _TEXT),
        ("project", _TEXT),
        ("is_active", _IS),
        ("paused_at", _TIME),
        ("next_run_at", _TIME),
        ("due_at", _TIME),
        ("last_run_at", _TIME),
        ("last_dispatch_status", _TEXT),
    ),
    "tenants": (
        ("lenser_id", _ID),
        ("user_id", _ID),
        ("handle", _TEXT),
        ("created_at", _TIME),
        ("departed_at", _TIME),
        ("departed_to", _TEXT),
        ("schedules", _COUNT),
        ("gateway_crons", _COUNT),
    ),
}
# Of a cell's address, what the directory's server connects by. Who connects, and with which secret
# or key, is the user mapping's; files of the machine that wrote the address are not this server's.
_KEPT = (
    "host", "hostaddr", "port", "dbname", "sslmode", "sslnegotiation", "ssl_min_protocol_version",
    "sslrootcert", "channel_binding", "require_auth", "gssencmode", "krbsrvname",
    "target_session_attrs", "connect_timeout", "tcp_user_timeout", "keepalives", "keepalives_idle",
    "keepalives_interval", "keepalives_count",
)  # fmt: skip
_HEAD = """\
-- Foreign tables over all cells, from `lf-sql cells foreign-tables`. Apply it with psql to the
-- directory's database, again after a cell was added, changed or taken away:
--   lf-sql cells foreign-tables | psql "$LF_SQL_DIRECTORY"
-- It has no password. Give each server a user mapping, by hand; it stays when you apply again:
--   create user mapping for current_user server lf_cell_NAME
--     options (user '...', password '...');
"""
LONGEST = 63  # bytes of a name in PostgreSQL


def place(cell: Cell) -> str:
    """What the cell's server and schema are called. No cell's name has a ~."""
    name = f"lf_cell_{cell.name}"
    end = f"~{cell.id}"
    return name if len(name) <= LONGEST else name[: LONGEST - len(end)] + end


def script(directory: Directory) -> str:
    """For psql, in one transaction: applied twice it changes nothing."""
    cells = directory.cells()
    parts = [_HEAD, "\\set ON_ERROR_STOP on\nbegin;\n", db.steady_script(), _wanted(cells)]
    parts.append(filled("foreign_begin", directory=str(directory.id)))
    for cell in cells:
        parts += ["\n", *_tables(cell)]
    parts += ["\n", *_views(cells), "\n", filled("foreign_end"), "commit;\n"]
    return "".join(parts)


def server_options(cell: Cell) -> dict[str, str]:
    """The server's, by the cell's address; LfSqlError where another server could not use it."""
    given = {k: str(v) for k, v in conninfo.conninfo_to_dict(cell.conninfo).items() if v}
    way_out = f"lf-sql cells set {cell.name} --dsn 'host=... port=... dbname=...'"
    if "service" in given:
        raise LfSqlError(
            f"cell {cell.name}: its address is the service {given['service']!r}, "
            "which the directory's server does not know",
            way_out,
        )
    database = given.get("dbname") or given.get("user")
    if database is None or not (given.get("host") or given.get("hostaddr")):
        what = "database" if database is None else "host"
        raise LfSqlError(f"cell {cell.name}: its address names no {what}", way_out)
    kept = {name: given[name] for name in _KEPT if name in given}
    return {
        "connect_timeout": "10",
        **kept,
        "dbname": database,
        "async_capable": "true",  # all cells answer at once
        "updatable": "false",
    }


def _wanted(cells: Sequence[Cell]) -> str:
    lines = [
        "\ncreate temporary table lf_wanted (\n"
        "  number integer generated always as identity, cell text, place text, options jsonb\n"
        ") on commit drop;\n"
    ]
    for cell in cells:
        options = json.dumps(server_options(cell), ensure_ascii=False)
        row = sql.SQL(
            "insert into pg_temp.lf_wanted (cell, place, options)\n  values ({}, {}, {});\n"
        ).format(cell.name, place(cell), options)
        lines.append(row.as_string())
    return "".join([*lines, "\n"])


def _tables(cell: Cell) -> Iterator[str]:
    for kind, columns in KINDS.items():
        yield (
            sql.SQL(
                "create foreign table if not exists {} (\n  {}\n) server {}\n"
                "  options (schema_name 'lenses', table_name {});\n"
            )
            .format(
                sql.Identifier(place(cell), f"cell_{kind}"),
                sql.SQL(",\n  ").join(
                    sql.SQL("{} {}").format(sql.Identifier(name), sql.SQL(type_))
                    for name, type_ in columns
                ),
                sql.Identifier(place(cell)),
                f"cell_{kind}",
            )
            .as_string()
        )


def _views(cells: Sequence[Cell]) -> Iterator[str]:
    """Who reads one needs rights on the foreign tables too, and a user mapping of his own."""
    for kind, columns in KINDS.items():
        names = [sql.Identifier(name) for name, _ in columns]
        parts = [
            sql.SQL("select {}::text as cell, {}\nfrom {}").format(
                cell.name, sql.SQL(", ").join(names), sql.Identifier(place(cell), f"cell_{kind}")
            )
            for cell in cells
        ] or [
            sql.SQL("select null::text as cell, {}\nwhere false").format(
                sql.SQL(", ").join(
                    sql.SQL("null::{} as {}").format(sql.SQL(type_), sql.Identifier(name))
                    for name, type_ in columns
                )
            )
        ]
        yield (
            sql.SQL("create or replace view {}\nwith (security_invoker = true) as\n{};\n")
            .format(sql.Identifier("lf_fleet", f"all_{kind}"), sql.SQL("\nunion all\n").join(parts))
            .as_string()
        )
        yield (
            sql.SQL("comment on view {} is {};\n")
            .format(
                sql.Identifier("lf_fleet", f"all_{kind}"),
                f"The rows of lenses.cell_{kind} of all cells, by lf-sql cells foreign-tables.",
            )
            .as_string()
        )
