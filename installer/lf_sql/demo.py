"""The demonstration: five schedules, one day played in seconds, then a real minute."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

from lf_sql import apply, bundle, jobs
from lf_sql.db import Connection
from lf_sql.embedded import Build
from lf_sql.errors import LfSqlError
from lf_sql.job_types import Driver

FREE = {"requiresApproval": False}
MINUTE_WAIT = 75.0


@dataclass(frozen=True)
class Plan:
    """One of the five: what it is called, and what its schedule says."""

    title: str
    cron: str
    zone: str
    rotation: list[dict[str, str]] | None = None
    on_holidays: bool = True  # false: a calendar of holidays keeps it quiet
    needs_approval: bool = False


PLANS = (
    Plan("stand-up, weekdays in New York", "0 9 * * 1-5", "America/New_York"),
    Plan("health probe, every 15 minutes", "*/15 * * * *", "UTC"),
    Plan("invoices, monthly, after approval", "0 6 1 * *", "Europe/Istanbul", needs_approval=True),
    Plan(
        "newsletter, three topics in turn",
        "0 */6 * * *",
        "UTC",
        rotation=[{"topic": "cats"}, {"topic": "dogs"}, {"topic": "owls"}],
    ),
    Plan("market brief, not on holidays", "30 8 * * *", "America/New_York", on_holidays=False),
)


def settings(build: Build) -> dict[str, str]:
    """The server's, with pg_cron where the build has it."""
    if not build.has_pg_cron:
        return {}
    return {
        "shared_preload_libraries": "pg_cron",
        "cron.database_name": "postgres",
        "cron.use_background_workers": "on",
    }


def played_day(today: date) -> date:
    """The next first of a month that is a weekday: all five have something to do on it."""
    day = today.replace(day=1)
    while day <= today or day.weekday() > 4:
        day = (day + timedelta(days=32)).replace(day=1)
    return day


class Demo:
    """Acts as the operator who installed, and as one tenant."""

    def __init__(self, conn: Connection, *, today: date | None = None) -> None:
        self.conn = conn
        self.day = played_day(today or datetime.now(UTC).date())
        self.user_id = uuid4()
        self.titles: dict[UUID, Plan] = {}
        self.workflow_id: UUID | None = None

    def install(
        self, say: Callable[[str], None] = lambda line: None
    ) -> tuple[apply.Outcome, Driver]:
        tree = bundle.load()
        outcome = apply.install(self.conn, tree, say=say)
        return outcome, jobs.register(self.conn, tree)

    def make_schedules(self) -> list[dict[str, Any]]:
        """One tenant, one workflow, the five; returns what the product says of each."""
        self.conn.execute(
            "insert into lensers.profiles (user_id, handle) values (%s, 'ada')", [self.user_id]
        )
        definition = {
            "nodes": [{"id": "fetch"}, {"id": "send"}],
            "edges": [{"from": "fetch", "to": "send"}],
        }
        with self._tenant():
            self.workflow_id = self._one(
                "select (public.fn_upsert_workflow(p_title => 'demo', p_definition => %s)).id as v",
                [json.dumps(definition)],
            )
            calendar_id = self._one(
                "select (public.fn_create_schedule_calendar('holidays of the demo', 'skip_dates', "
                "'America/New_York', %s::date[])).id as v",
                [[self.day]],
            )
            for plan in PLANS:
                key = self._make(plan, calendar_id, start=next(minutes(self.day)))
                self.titles[key] = plan
        rows = self.conn.execute(
            "select s.id, lenses.fn_cron_describe(s.cron_expr) as says, s.timezone, s.next_run_at "
            "from lenses.workflow_schedules as s where s.id = any(%s)",
            [list(self.titles)],
        ).fetchall()
        says = {row["id"]: row for row in rows}
        return [
            {
                "schedule": plan.title,
                "cron": plan.cron,
                "in English": says[key]["says"],
                "zone": plan.zone,
                "first slot": clock(says[key]["next_run_at"]),
            }
            for key, plan in self.titles.items()
        ]

    def play(self, step: Callable[[], None] = lambda: None) -> tuple[int, float]:
        """A tick for every minute of the day; returns ticks and seconds."""
        started = time.monotonic()
        ticks = 0
        for now in minutes(self.day):
            self.conn.execute(
                "select lenses.fn_dispatch_scheduled_workflows(%s::timestamptz)", [now]
            )
            ticks += 1
            step()
        return ticks, time.monotonic() - started

    def outcomes(self) -> list[dict[str, Any]]:
        """What became of each schedule's slots, from the product's own ledger of slots."""
        rows = self.conn.execute(
            "select l.schedule_id, l.status, coalesce(l.reason, r.status) as reason, "
            "count(*) as slots, min(run_at) as first, max(run_at) as last, "
            "array_agg(context_inputs ->> 'topic' order by run_at) as topics "
            "from lenses.schedule_slots as l "
            "left join lenses.workflow_runs as r on r.id = l.run_id "
            "where l.schedule_id = any(%s) group by 1, 2, 3",
            [list(self.titles)],
        ).fetchall()
        found = []
        for key, plan in self.titles.items():
            for row in (row for row in rows if row["schedule_id"] == key):
                topics = [topic for topic in row["topics"] if topic]
                found.append(
                    {
                        "schedule": plan.title,
                        "slots": row["slots"],
                        "outcome": "skipped" if row["status"] == "SKIPPED" else "fired",
                        "why, or as what": ", ".join(topics) or row["reason"],
                        "first": clock(row["first"]),
                        "last": clock(row["last"]),
                    }
                )
        return found

    def real_minute(self, by_pg_cron: bool) -> dict[str, Any]:
        """A schedule for every minute; wait until its next slot is dispatched."""
        with self._tenant():
            key = self._make(Plan("every minute", "* * * * *", "UTC"), None, start=None)
        give_up = time.monotonic() + MINUTE_WAIT
        while time.monotonic() < give_up:
            if not by_pg_cron:
                self.conn.execute("call lenses.sp_dispatch_tick()")
            row = self.conn.execute(
                "select r.scheduled_for as slot, r.created_at as dispatched_at, r.status, "
                "r.id as run, "
                "(select t.driver from lenses.dispatch_ticks as t where t.dispatched > 0 "
                "order by t.id desc limit 1) as driver "
                "from lenses.workflow_runs as r where r.schedule_id = %s limit 1",
                [key],
            ).fetchone()
            if row:
                return row
            time.sleep(0.25)
        raise LfSqlError("no run in a minute: the driver does not tick", "lf-sql schedule health")

    def _make(self, plan: Plan, calendar_id: UUID | None, start: datetime | None) -> UUID:
        found: UUID = self._one(
            "select (public.fn_upsert_workflow_schedule(%(workflow)s, p_cron_expr => %(cron)s, "
            "p_timezone => %(zone)s, p_description => %(title)s, p_start_at => %(start)s, "
            "p_calendar_id => %(calendar)s, p_inputs_rotation => %(rotation)s, "
            "p_approval_policy => %(approval)s)).id as v",
            {
                "workflow": self.workflow_id,
                "cron": plan.cron,
                "zone": plan.zone,
                "title": plan.title,
                "start": start,
                "calendar": None if plan.on_holidays else calendar_id,
                "rotation": json.dumps(plan.rotation) if plan.rotation else None,
                "approval": json.dumps({"requiresApproval": True} if plan.needs_approval else FREE),
            },
        )
        return found

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

    def _one(self, query: str, params: Any) -> Any:
        row = self.conn.execute(query.encode(), params).fetchone()
        assert row is not None
        return row["v"]


def clock(at: datetime) -> str:
    return f"{at.astimezone(UTC):%d %b %H:%M}"


def minutes(day: date) -> Iterator[datetime]:
    """Every minute of a day in UTC."""
    start = datetime(day.year, day.month, day.day, tzinfo=UTC)
    return (start + timedelta(minutes=n) for n in range(24 * 60))
