"""lf-sql settings: of the dispatcher, for all tenants."""

from __future__ import annotations

import json
from typing import Any

import click

from lf_sql import bundle, jobs
from lf_sql.cli.context import (
    connect_cron,
    cron_option,
    emit,
    is_for_a_person,
    note,
    options,
)
from lf_sql.cli.lazy import SuggestingGroup
from lf_sql.cli.session import installed, one
from lf_sql.cli.terminal import prose
from lf_sql.db import Connection
from lf_sql.durations import spelt
from lf_sql.plain import plain

MEANING = """
select
  a.attname as name, pg_catalog.to_jsonb(d) ->> a.attname as value,
  case when a.atttypid = 'pg_catalog.interval'::pg_catalog.regtype then pg_catalog.extract(
    'epoch', (pg_catalog.to_jsonb(d) ->> a.attname)::pg_catalog.interval) * 1000 end as ms,
  pg_catalog.col_description(a.attrelid, a.attnum) as meaning
from pg_catalog.pg_attribute as a
cross join lenses.dispatch_settings as d
where a.attrelid = 'lenses.dispatch_settings'::pg_catalog.regclass and a.attnum > 0
  and not a.attisdropped and a.attname not in ('id', 'updated_at')
order by a.attnum
"""


@click.command("list", epilog="\b\nExample:\n  lf-sql settings list")
def list_() -> None:
    """Every setting, its value, and what it means."""
    with installed() as conn:
        rows = _rows(conn)
    if is_for_a_person():
        for row in rows:
            prose.show(f"{row['name']}: {row['value'] or 'none'}", row["meaning"])
        return
    emit(rows, ["name", "value", "meaning"])


@click.command(
    "set",
    epilog="\b\nExamples:\n  lf-sql settings set batch_size 500\n"
    "  lf-sql settings set missed_grace 5m\n"
    "  lf-sql settings set max_schedules_per_lenser none\n"
    "  lf-sql settings set dispatch_lanes 2",
)
@click.argument("name")
@click.argument("value")
@cron_option
def set_(name: str, value: str, cron_dsn: str | None) -> None:
    """Change one; `none` is no limit. The database checks the value.

    With dispatch_lanes it also registers and takes away pg_cron jobs, as install does.
    """
    given: Any = None if value == "none" else value
    if value not in ("none",):
        try:
            number = json.loads(value)
            given = number if isinstance(number, int | float) else value
        except ValueError:
            given = value
    with installed() as conn:
        one(
            conn,
            "select s.* from lenses.fn_set_dispatch_settings(%s::jsonb) as s",
            [_patch(name, given)],
        )
        rows = [row for row in _rows(conn) if row["name"] == name]
        emit(rows, ["name", "value", "meaning"])
        note(f"{name} is set; workers and jobs see it at their next tick")
        if name == "dispatch_lanes":
            with connect_cron(cron_dsn) as cron:
                _register(conn, cron)


def _register(conn: Connection, cron: Connection | None) -> None:
    """A job a lane, where this role may; else say who can."""
    tree = bundle.load()
    driver = jobs.inspect(conn, tree, cron)
    # Who does not see the first lane's job is not who registered it.
    if any(name.startswith(jobs.DISPATCH) for name in driver.registered):
        driver = jobs.register(conn, tree, cron)
    for trouble in driver.troubles:
        note(f"pg_cron: {plain(trouble.problem)}")
    if driver.findings:
        note("the jobs of the lanes are as before: lf-sql install, as the role that installed")
    elif driver.is_usable:
        note(f"pg_cron: {', '.join(driver.registered)} registered")


def _patch(name: str, value: Any) -> str:
    return json.dumps({name: value})


def _rows(conn: Connection) -> list[dict[str, Any]]:
    """People read `2m` and may write it; --json has the interval as the server writes it."""
    rows = []
    for row in conn.execute(MEANING.encode()).fetchall():
        ms = row.pop("ms")
        is_spelt = ms is not None and not options().as_json
        rows.append({**row, "value": spelt(ms)} if is_spelt else row)
    return rows


group = SuggestingGroup(
    "settings",
    help="Settings of the dispatcher, for all tenants.",
    epilog="\b\nExample:\n  lf-sql settings list",
    commands=[list_, set_],
)
