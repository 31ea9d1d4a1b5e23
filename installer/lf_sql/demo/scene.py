"""What the demonstration asks of the database: as the operator, and as one tenant."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, date, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

from lf_sql import apply, bundle, health, jobs
from lf_sql.db import Connection
from lf_sql.demo.plans import BACKUP, FREE, PLANS, Plan, day_before, ticks
from lf_sql.embedded import Build
from lf_sql.errors import LfSqlError
from lf_sql.job_types import Driver

PATIENCE = 75.0  # seconds: the next minute is at most one away

Row = dict[str, Any]

SLOTS = """
select s.name, l.status, coalesce(l.reason, r.status) as reason, sum(l.slot_count) as slots,
  min(l.run_at) as first, max(l.run_at_last) as last
from lenses.schedule_slots as l
inner join lenses.workflow_schedules as s on s.id = l.schedule_id
left join lenses.workflow_runs as r on r.id = l.run_id
where l.run_at >= %s and l.run_at < %s
group by 1, 2, 3
order by 1, 4 desc
"""
LATE = """
select s.name, count(r.id) as runs, sum(l.slot_count) filter (where l.reason = 'missed') as skipped,
  max(r.scheduled_for) as run_of
from lenses.schedule_slots as l
inner join lenses.workflow_schedules as s on s.id = l.schedule_id
left join lenses.workflow_runs as r on r.id = l.run_id
where l.run_at >= %s and l.run_at < %s
group by 1
order by 1
"""
ATTEMPTS = """
select a.* from lenses.workflow_runs as r
inner join lenses.workflow_schedules as s on s.id = r.schedule_id
cross join lateral jsonb_to_recordset(public.fn_get_run(r.id) -> 'attempts')
as a (attempt integer, outcome text, error text)
where s.name = 'ledger' and r.scheduled_for < %s
order by a.attempt
"""
REAL = """
select r.scheduled_for as slot, r.created_at as made_at, r.completed_at, r.status, r.id
from lenses.workflow_runs as r
inner join lenses.workflow_schedules as s on s.id = r.schedule_id
where s.name = %s and r.status not in ('pending', 'running')
order by r.created_at
limit 1
"""
# As an operator sets a clock back: the next slot of each is the first one from an instant on.
REWIND = """
update lenses.workflow_schedules as s
set next_run_at = lenses.fn_next_slot(
  s.cron_spec, s.timezone, s.interval_ms, s.created_at, s.start_at, s.end_at, x.start)
from (select %s::timestamptz - interval '1 second' as start) as x
"""


def settings(build: Build) -> dict[str, str]:
    """The server's, with pg_cron where the build has it."""
    if not build.has_pg_cron:
        return {}
    return {
        "shared_preload_libraries": "pg_cron",
        "cron.database_name": "postgres",
        "cron.use_background_workers": "on",
    }


class Scene:
    """One tenant, its schedules, and yesterday."""

    def __init__(self, conn: Connection) -> None:
        self.conn = conn
        self.day = day_before(datetime.now(UTC))
        self.user_id = uuid4()

    @property
    def midnight(self) -> datetime:
        """The end of the day."""
        return self.day + timedelta(days=1)

    def install(self, say: Callable[[str], None]) -> float:
        """The seconds that it took."""
        return apply.install(self.conn, bundle.load(), say=say).seconds

    def start_pg_cron(self) -> Driver:
        """From now on real minutes tick, where there is pg_cron."""
        return jobs.register(self.conn, bundle.load())

    def make_schedules(self) -> list[Row]:
        """The tenant, a calendar and the schedules; what the product says of each."""
        self.conn.execute(
            "insert into lensers.profiles (user_id, handle) values (%s, 'ada')", [self.user_id]
        )
        with self._tenant():
            calendar_id = self._one(
                "select (public.fn_create_schedule_calendar('holidays', 'skip_dates', "
                "'America/New_York', %s::date[])).id as v",
                [[self.day.date(), self.day.date() + timedelta(days=28)]],
            )
            for plan in PLANS:
                self.make(plan, calendar_id)
        self.conn.execute(REWIND.encode(), [self.day])
        return self.conn.execute(
            "select s.name, lenses.fn_cron_describe(s.cron_expr) as means, s.timezone "
            "from lenses.workflow_schedules as s order by s.created_at, s.name"
        ).fetchall()

    def play(self, times: list[datetime], step: Callable[[], None]) -> float:
        """Tick at each of these instants; the seconds that it took."""
        started = time.monotonic()
        for now in times:
            self.conn.execute(
                "select lenses.fn_dispatch_scheduled_workflows(%s::timestamptz)", [now]
            )
            step()
        return time.monotonic() - started

    def ticks(self) -> list[datetime]:
        """From yesterday's first minute until now."""
        return ticks(self.day, datetime.now(UTC))

    def outcomes(self) -> list[Row]:
        """What became of yesterday's slots, from the product's own ledger of slots."""
        return self.conn.execute(SLOTS.encode(), [self.day, self.midnight]).fetchall()

    def late(self, begin: datetime, end: datetime) -> list[Row]:
        """What became of the slots during the outage."""
        return self.conn.execute(LATE.encode(), [begin, end]).fetchall()

    def attempts(self) -> list[Row]:
        """How the run that failed went on."""
        with self._tenant():
            return self.conn.execute(ATTEMPTS.encode(), [self.midnight]).fetchall()

    def explained(self, name: str, at: datetime) -> Row:
        """Why a schedule does what it does at an instant, in the product's words."""
        found: Row = self._one(
            "select lenses.fn_explain_schedule(s.id, %s::timestamptz) as v "
            "from lenses.workflow_schedules as s where s.name = %s",
            [at, name],
        )
        return found

    def nights(self, turn: date) -> list[Row]:
        """When the backup runs about the day on which the clocks are turned."""
        with self._tenant():
            return self.conn.execute(
                "select p.day, p.wall_times, p.first_at from public.fn_preview_days(%s::date, 3, "
                "(select s.id from lenses.workflow_schedules as s where s.name = %s)) as p",
                [turn - timedelta(days=1), BACKUP.name],
            ).fetchall()

    def approve(self, note: str) -> int:
        """As the tenant: all that waited yesterday."""
        with self._tenant():
            return len(
                self.conn.execute(
                    "select public.fn_decide_workflow_run(r.id, 'approved', %s) "
                    "from lenses.workflow_runs as r "
                    "where r.status = 'pending_approval' and r.scheduled_for < %s",
                    [note, self.midnight],
                ).fetchall()
            )

    def settled(self) -> int:
        """Wait until the executor has nothing left to do; how many runs are completed."""
        self._wait(
            "select not exists (select from lenses.workflow_runs as r "
            "where r.status in ('pending', 'running')) as v",
            "no run is left",
        )
        return int(
            self._one(
                "select count(*) as v from lenses.workflow_runs as r where r.status = 'completed'",
                [],
            )
        )

    def real_minute(self, plan: Plan) -> Row:
        """A schedule for every minute; wait until a run of it is completed."""
        with self._tenant():
            self.make(plan, None)
        name = [plan.name]
        self._wait(f"select exists ({REAL}) as v", "no run in a minute", name)
        return self._row(REAL, name)

    def health(self) -> list[health.Line]:
        """As the operator sees it: `lf-sql schedule health`."""
        return health.everything(self.conn)

    def make(self, plan: Plan, calendar_id: UUID | None) -> None:
        """A workflow and its schedule, as the tenant."""
        workflow_id = self._one(
            "select (public.fn_upsert_workflow(p_title => %s, p_definition => %s)).id as v",
            [plan.name, json.dumps({"nodes": [{"id": plan.name}], "edges": []})],
        )
        arguments = {"p_approval_policy": FREE, **plan.arguments}
        if plan.has_holidays:
            arguments["p_calendar_id"] = str(calendar_id)
        named = "".join(f", {name} => %s" for name in arguments)
        self.conn.execute(
            "select public.fn_upsert_workflow_schedule(%s, p_name => %s, p_cron_expr => %s, "
            f"p_timezone => %s{named})".encode(),
            [
                workflow_id,
                plan.name,
                plan.cron,
                plan.zone,
                *(v if isinstance(v, str) else json.dumps(v) for v in arguments.values()),
            ],
        )

    def _wait(self, query: str, otherwise: str, params: Any = ()) -> None:
        give_up = time.monotonic() + PATIENCE
        while not self._one(query, params):
            if time.monotonic() > give_up:
                raise LfSqlError(otherwise, "lf-sql schedule health")
            time.sleep(0.1)

    @contextmanager
    def _tenant(self) -> Iterator[None]:
        """As PostgREST would: the tenant's role and claims, for one transaction."""
        claims = json.dumps({"sub": str(self.user_id), "role": "authenticated"})
        with self.conn.transaction():
            self.conn.execute(
                "select set_config('request.jwt.claims', %s, true) as c, "
                "set_config('role', 'authenticated', true) as r",
                [claims],
            )
            yield

    def _row(self, query: str, params: Any) -> Row:
        row = self.conn.execute(query.encode(), params).fetchone()
        assert row is not None
        return row

    def _one(self, query: str, params: Any) -> Any:
        return self._row(query, params)["v"]
