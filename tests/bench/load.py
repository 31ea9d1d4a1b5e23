"""Databases full of schedules. A thousand rows go through the table's trigger, the rest are copies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from lf_sql import apply, bundle
from lf_sql import db as product_db
from tests.support.database import Database, connect, make_tenant
from tests.support.server import TestServer

SETTINGS = {
    "shared_buffers": "1GB",
    "max_wal_size": "8GB",
    "checkpoint_timeout": "1h",
    "autovacuum": "off",
    "jit": "off",
}
SEEDS = 1000
TENANTS = 100
TEMPLATE = "bench_template"
ZONES = ("UTC", "Europe/Istanbul", "America/New_York", "Asia/Kolkata", "Australia/Lord_Howe")


def a_monday() -> datetime:
    """09:00 UTC of the Monday after next: nothing but a played clock makes it due."""
    today = datetime.now(UTC).replace(hour=9, minute=0, second=0, microsecond=0)
    return today + timedelta(days=14 - today.weekday())


def expressions(at: datetime) -> list[tuple[str | None, int | None, str]]:
    """Expression, interval and zone of schedules that all have a slot at that instant."""
    found: list[tuple[str | None, int | None, str]] = []
    for zone in ZONES:
        local = at.astimezone(ZoneInfo(zone))
        minute, hour, day = local.minute, local.hour, local.day
        found += [
            (f"{minute} {hour} * * *", None, zone),
            (f"{minute} {hour} * * 1-5", None, zone),
            (f"{minute} {hour} {day} * *", None, zone),
            (f"{minute},{(minute + 20) % 60},{(minute + 40) % 60} * * * *", None, zone),
            ("*/15 * * * *", None, zone) if minute % 15 == 0 else ("* * * * *", None, zone),
        ]
    return [*found, (None, 300_000, "UTC"), (None, 6 * 3_600_000, "UTC")]


class Bench:
    """One server; databases made from an installed template."""

    def __init__(self, server: TestServer) -> None:
        self.server = server
        with connect(server.dsn()) as admin:
            admin.execute(f"create database {TEMPLATE}")
        with product_db.connect(server.dsn(TEMPLATE)) as conn:
            apply.install(conn, bundle.load())

    @contextmanager
    def database(
        self, name: str, template: str = TEMPLATE, *, keep: bool = False
    ) -> Iterator[Database]:
        with connect(self.server.dsn()) as admin:
            admin.execute(f"create database {name} template {template} strategy file_copy")
            try:
                with connect(self.server.dsn(name)) as conn:
                    yield conn
            finally:
                admin.execute(f"drop database {name} with (force)")

    @property
    def version(self) -> str:
        with connect(self.server.dsn()) as admin:
            return f"PostgreSQL {admin.info.parameter_status('server_version')}"


@contextmanager
def bench(environment: Mapping[str, str] | None = None, **settings: str) -> Iterator[Bench]:
    server = TestServer({**SETTINGS, **settings}, environment)
    try:
        yield Bench(server)
    finally:
        server.stop()


def fill(conn: Database, count: int, at: datetime, *, approval: bool = False) -> None:
    """So many active schedules of a hundred tenants, each with a slot at that instant."""
    seeds = min(count, SEEDS)
    tenants = [make_tenant(conn).id for _ in range(min(TENANTS, seeds))]
    conn.execute(
        "insert into lenses.workflows (lenser_id, title) "
        "select t, 'report ' || n from unnest(%s::uuid[]) as t cross join generate_series(1, 10) as n",
        [tenants],
    )
    shapes = expressions(at)
    with conn.transaction(), conn.cursor() as cursor:
        cursor.execute("select id from lenses.workflows order by id")
        workflows = [row[0] for row in cursor.fetchall()]
        cursor.executemany(
            "insert into lenses.workflow_schedules (workflow_id, cron_expr, interval_ms, schedule_type, "
            "timezone, start_at, approval_policy, inputs_template) "
            "values (%s, %s, %s, %s, %s, %s, %s, %s)",
            [
                (
                    workflows[n % len(workflows)],
                    *shapes[n % len(shapes)][:2],
                    "interval" if shapes[n % len(shapes)][1] else "cron",
                    shapes[n % len(shapes)][2],
                    at,
                    '{"requiresApproval": true}' if approval else '{"requiresApproval": false}',
                    f'{{"report": {n}, "to": "someone@example.org"}}',
                )
                for n in range(seeds)
            ],
        )
    multiply(conn, count - seeds)
    conn.execute("vacuum analyze")


def multiply(conn: Database, copies: int) -> None:
    """Copies of the rows that are there, past the triggers: what these fill in is copied too."""
    if copies <= 0:
        return
    columns = conn.value(
        "select string_agg(quote_ident(attname), ', ' order by attnum) from pg_attribute "
        "where attrelid = 'lenses.workflow_schedules'::regclass and attnum > 0 "
        "and not attisdropped and attname <> 'id'"
    )
    with conn.transaction():
        conn.execute("alter table lenses.workflow_schedules disable trigger all")
        conn.execute("alter table lenses.schedule_due disable trigger all")
        conn.execute(
            f"insert into lenses.workflow_schedules (id, {columns}) "
            f"select gen_random_uuid(), {columns} from (select s.*, row_number() over () as r "
            "from lenses.workflow_schedules as s) as s "
            "cross join generate_series(1, %(copies)s / %(seeds)s) as n",
            {"copies": copies, "seeds": SEEDS},
        )
        conn.execute(
            "insert into lenses.schedule_due (schedule_id, lenser_id, due_at) "
            "select s.id, s.lenser_id, s.due_at from lenses.workflow_schedules as s "
            "where not exists (select from lenses.schedule_due as d where d.schedule_id = s.id)"
        )
        conn.execute("alter table lenses.workflow_schedules enable trigger all")
        conn.execute("alter table lenses.schedule_due enable trigger all")
        if conn.value("select to_regproc('lenses.fn_recount') is not null"):  # not in 0.2.0
            conn.execute("select lenses.fn_recount()")


def tick(conn: Database, at: datetime) -> int:
    """A tick as its driver runs it, at a played instant: a batch a transaction. Schedules handled."""
    batch, cap = conn.row("select batch_size, max_catchup_per_tick from lenses.dispatch_settings")
    tick_id = conn.value("select lenses.fn_begin_tick_at('bench', %s)", [at])
    handled = 0
    while taken := conn.value(
        "select lenses.fn_dispatch_pass(%s, %s, %s, %s)", [tick_id, at, batch, cap]
    ):
        handled += taken
    return handled
