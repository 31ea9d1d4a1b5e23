"""Two tenants with a row in every table of ours, so that what one sees of the other can be counted."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import psycopg

TENANT_ROWS = """
insert into lensers.profiles (id, user_id, handle) values (%(lenser)s, %(user)s, %(name)s);

insert into agents.ai_lensers (id, lenser_id, name) values (%(agent)s, %(lenser)s, %(name)s);
insert into agents.teams (id, lenser_id, name) values (%(team)s, %(lenser)s, %(name)s);
insert into agents.team_members (team_id, ai_lenser_id, lenser_id)
values (%(team)s, %(agent)s, %(lenser)s);
insert into agents.policies (ai_lenser_id, lenser_id, spending_limit_credits)
values (%(agent)s, %(lenser)s, 1000);

insert into lenses.workflows (id, lenser_id, title, definition)
values (
  %(workflow)s, %(lenser)s, %(secret)s,
  '{"nodes":[{"id":"a"},{"id":"b","action":"deploy"}],"edges":[{"from":"a","to":"b"}]}'
);
insert into agents.workflow_assignments (id, lenser_id, workflow_id, assignee_type, assignee_id)
values (%(assignment)s, %(lenser)s, %(workflow)s, 'agent', %(agent)s);

insert into lenses.schedule_calendars (id, lenser_id, name, kind, timezone, dates)
values (%(calendar)s, %(lenser)s, %(name)s, 'skip_dates', 'UTC', array[date '2030-01-01']);
insert into lenses.schedule_calendars (id, lenser_id, name, kind, timezone, dates)
values (
  %(spare_calendar)s, %(lenser)s, %(name)s || ' spare', 'skip_dates', 'UTC', array[date '2030-01-01']
);
insert into lenses.workflow_schedules (
  id, lenser_id, workflow_id, schedule_type, cron_expr, timezone, jitter_ms, calendar_id, description,
  workflow_assignment_id, assignee_type, assignee_id
)
values (
  %(schedule)s, %(lenser)s, %(workflow)s, 'cron', '0 9 * * *', 'UTC', 0, %(calendar)s, %(secret)s,
  %(assignment)s, 'agent', %(agent)s
);

insert into lenses.workflow_runs (
  id, lenser_id, workflow_id, workflow_version, schedule_id, status, needs_approval, ai_lenser_id
)
values (
  %(run)s, %(lenser)s, %(workflow)s, 1, %(schedule)s, 'pending_approval', true, %(agent)s
);
insert into lenses.run_retries (run_id, attempt, lenser_id, spent_credits, retried_at)
values (%(run)s, 0, %(lenser)s, 0, now());
insert into agents.agent_run_events (lenser_id, run_id, event_type)
values (%(lenser)s, %(run)s, 'note');
insert into agents.action_logs (lenser_id, schedule_id, action_type, payload)
values (%(lenser)s, %(schedule)s, 'note', pg_catalog.jsonb_build_object('secret', %(secret)s::text));
insert into agents.approval_attempts (run_id, minute, lenser_id, last_role, last_attempt)
values (%(run)s, pg_catalog.date_trunc('minute', now()), %(lenser)s, 'service_role', 'test');

insert into lenses.deliveries (name, sends, is_active) values ('asleep', '{run.failed}', false)
on conflict do nothing;
insert into lenses.outbox (event_id, delivery, lenser_id, event_type, order_key, payload)
values (%(run)s, 'asleep', %(lenser)s, 'run.failed', %(schedule)s, '{}');

insert into lenses.departed_rows (lenser_id, table_name, row_key, row_texts)
values (%(lenser)s, 'lenses.nothing', %(secret)s, '{}');

insert into agents.gateways (id, lenser_id, name) values (%(gateway)s, %(lenser)s, %(name)s);
insert into agents.gateway_crons (id, lenser_id, gateway_id, operation, cron_expr)
values (%(gateway_cron)s, %(lenser)s, %(gateway)s, 'health_probe', '0 * * * *');
insert into agents.gateway_cron_runs (id, lenser_id, gateway_id, gateway_cron_id, operation)
values (%(gateway_cron_run)s, %(lenser)s, %(gateway)s, %(gateway_cron)s, 'health_probe')
"""

KINDS = (
    "lenser", "user", "agent", "team", "workflow", "assignment", "calendar", "spare_calendar", "schedule",
    "run", "gateway", "gateway_cron", "gateway_cron_run",
)  # fmt: skip


@dataclass(frozen=True)
class Estate:
    """Ids of a tenant's rows: the letter stands in the last group, the kind in the first."""

    name: str
    ids: dict[str, str]

    def __getattr__(self, kind: str) -> str:
        try:
            return self.ids[kind]
        except KeyError:
            raise AttributeError(kind) from None

    @property
    def secret(self) -> str:
        return f"secret of {self.name}"

    @property
    def claims(self) -> str:
        return json.dumps({"sub": self.ids["user"], "role": "authenticated"})


def estate(name: str, number: int) -> Estate:
    ids = {
        kind: f"{place:08x}-0000-4000-8000-{number:012x}"
        for place, kind in enumerate(KINDS, start=1)
    }
    return Estate(name, ids)


ALICE, BOB = estate("alice", 0xA), estate("bob", 0xB)


def populate(conn: psycopg.Connection[Any], *estates: Estate) -> None:
    """As a superuser, or a member of lf_sql_engine: what the guards let pass from there."""
    with psycopg.ClientCursor(conn) as cursor:
        for one in estates or (ALICE, BOB):
            values = {**one.ids, "name": one.name, "secret": one.secret}
            cursor.execute(TENANT_ROWS.encode(), values)
