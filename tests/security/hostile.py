"""Values that nobody sane sends, by type, and calls made of them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

from tests.security.rpcs import CALLS
from tests.support.database import Database
from tests.support.tenants import ALICE, BOB

FUNCTIONS = """
select
  p.oid::regproc::text as name, n.nspname as schema, p.proname,
  coalesce(p.proargnames[1:p.pronargs], '{}') as names,
  array(select format_type(t, null) from unnest(p.proargtypes) as t) as types,
  p.pronargs - p.pronargdefaults as required
from pg_proc as p
join pg_namespace as n on n.oid = p.pronamespace
where has_function_privilege(%s, p.oid, 'execute') and p.prokind = 'f'
  and p.prorettype <> 'trigger'::regtype
  and (n.nspname in ('lensers', 'lenses', 'agents', 'automation') or exists (
    select from lf_sql.sources as s
    where n.nspname = 'public' and s.kind = 'function' and s.schema_name = 'public'
      and s.object_name = p.proname))
order by 1
"""

WORDS = (
    "", " ", "\t", "a\nb", "x" * 10_000, "é" * 300_000, "\x1b[2J\x9b31m", "\u202eabc", "\ufeff",
    "%s%n%x", "'; drop table lenses.workflows; --", "\\", '"', "null", "NaN", "infinity", "{}", "0",
    "* * * * *", "@daily", "0 0 30 2 *", "*/90 * * * *", "59 23 31 12 7", "60 * * * *", "? ? ? ? ?",
    "L W # *", ", , , , ,", "1-1000000000 * * * *", "* " * 500, "9" * 400 + " * * * *",
    "UTC", "Europe/Istanbul", "UTC+8", "FOO+167:59:59", "localtime", "../../etc/passwd", "EST",
    "approved", "rejected", "agent", "team", "active", "paused", "deleted", "deprecated", "battle",
    "workflow", "skip_dates", "only_dates", "cron", "interval", "once", "skip", "run_once",
    "backfill", "spread", "health_probe", "maintenance_window", "timeout", "provider_error",
    "budget_exceeded", "w", "run.failed", "before", "after",
)  # fmt: skip
INSTANTS = (
    "infinity", "-infinity", "epoch", "now", "today", "yesterday", "tomorrow", "4713-01-01 BC",
    "0001-01-01", "1969-12-31 23:59:59+00", "9999-12-31 23:59:59.999999+00", "10000-01-01",
    "20000-01-01", "294276-12-31", "2026-03-29 01:00:00.000001+00",
)  # fmt: skip
INTEGERS = (0, 1, -1, 2, 5, 60, 200, 201, 10_000, 2**31 - 1, -(2**31))
BIGINTS = (*INTEGERS, 300_000, 299_999, 2**31, 2**53, 2**63 - 1, -(2**63))
NUMERICS = ("NaN", "Infinity", "-Infinity", "0", "-1", "0.5", "1e100", "-1e-100", "1e1000")
INTERVALS = (
    "0", "-1 day", "1 microsecond", "1 second", "5 minutes", "1 mon -1 day", "31 days",
    "170000000 years", "-170000000 years",
)  # fmt: skip
DATES = ("{}", "{NULL}", "{infinity}", "{-infinity,NULL}", "{2030-01-01}", "{{2030-01-01}}",
         "{2030-01-01,2030-01-01}", "{4713-01-01 BC}", "{5874897-12-31}",
         "{" + ",".join(f"20{n % 100:02}-01-{n % 28 + 1:02}" for n in range(5000)) + "}")  # fmt: skip
IDS = [
    *ALICE.ids.values(), *BOB.ids.values(), "00000000-0000-0000-0000-000000000000",
    "ffffffff-ffff-ffff-ffff-ffffffffffff", "0e37df36-f698-11e6-8dd4-cb9ced3df976",
]  # fmt: skip
KEYS = (
    "requiresApproval", "mode", "gates", "expiresAfterMs", "maxRetries", "backoffMs", "retryOn",
    "timeoutMs", "fallbackAssigneeId", "maxConcurrency", "priority", "onMissed", "maxBackfill",
    "spreadWindowMs", "onOverlap", "cron_expr", "timezone", "interval_ms", "start_at", "end_at",
    "jitter_ms", "is_active", "assignee_id", "assignee_type", "calendar_id", "description", "name",
    "approval_policy", "retry_policy", "failure_policy", "queue_policy", "inputs_template",
    "inputs_rotation", "pre_dispatch_condition", "workflow_version", "workflow_assignment_id",
    "schedule_type", "global_model_id", "nodes", "edges", "triggers", "id", "type", "from", "to",
    "action", "frequency", "minute", "hour", "days", "day_of_month", "batch_size", "missed_grace",
    "retention", "max_catchup_per_tick", "max_schedules_per_lenser", "default_jitter_ms", "/a",
    "/last_24h_stats/total", "/prior_run_result/status", "eq", "neq", "gt", "lt", "contains", "", "~2",
    "status", "since", "limit", "workflow", "schedule", "trigger", "until", "run_id", "attempt",
    "result", "spent_credits", "weekdays", "nth", "easter", "month_day",
)  # fmt: skip

_leaves = (
    st.none()
    | st.booleans()
    | st.sampled_from(BIGINTS)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from([w for w in WORDS if len(w) < 20_000])
    | st.sampled_from(IDS)
)
_trees = st.recursive(
    _leaves,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=4)
    ),
    max_leaves=12,
)
_documents = _trees.map(json.dumps) | st.sampled_from(
    [
        "[" * 3000 + "]" * 3000,
        '{"a":' * 200 + "1" + "}" * 200,
        json.dumps(list(range(60_000))),
        json.dumps({"x" * 100_000: 1}),
        '{"a":1e400}',
        "1" * 100,
        '"\\u0001\\u202e"',
        '{"nodes":[{"id":"a"}],"edges":[{"from":"a","to":"a"}]}',
        json.dumps({"triggers": [{"id": str(n), "type": "x"} for n in range(2000)]}),
    ]
)

BY_TYPE: dict[str, st.SearchStrategy[str]] = {
    "uuid": st.sampled_from(IDS),
    "text": st.sampled_from(WORDS),
    "jsonb": _documents,
    "timestamp with time zone": st.sampled_from(INSTANTS),
    "integer": st.sampled_from(INTEGERS).map(str),
    "bigint": st.sampled_from(BIGINTS).map(str),
    "numeric": st.sampled_from(NUMERICS),
    "boolean": st.sampled_from(["true", "false"]),
    "interval": st.sampled_from(INTERVALS),
    "date[]": st.sampled_from(DATES),
    "date": st.sampled_from(["infinity", "-infinity", "2030-02-28", "5874897-12-31"]),
    "uuid[]": st.lists(st.sampled_from([*IDS, "NULL"]), max_size=5).map(
        lambda ids: "{" + ",".join(ids) + "}"
    ),
    "text[]": st.sampled_from(["{}", "{NULL}", "{a,NULL,''}", "{{a,b},{c,d}}"]),
}


@dataclass(frozen=True)
class Call:
    name: str
    types: dict[str, str]
    values: dict[str, str | None]

    @property
    def query(self) -> str:
        named = ", ".join(
            f"{name} => %({name})s::{self.types[name]}" if name in self.values else name
            for name in self.values
        )
        return f"select r::text from {self.name}({named}) as r"


def calls(conn: Database, role: str) -> st.SearchStrategy[Call]:
    """A call of any function that `role` may execute; half of its arguments make sense, half do not."""
    return st.sampled_from(conn.rows(FUNCTIONS, [role])).flatmap(_call)


def _call(function: Any) -> st.SearchStrategy[Call]:
    types = dict(zip(function.names, function.types, strict=True))
    good = CALLS.get(function.proname, {})
    required, optional = {}, {}
    for place, (name, kind) in enumerate(types.items()):
        value = st.none() | BY_TYPE.get(kind, st.none())
        if name in good:
            sane = good[name]
            if isinstance(sane, str) and sane.startswith("{:"):
                sane = "{" + ALICE.ids[sane[2:-1]] + "}"
            elif isinstance(sane, str) and sane.startswith(":"):
                sane = ALICE.ids[sane[1:]]
            value = st.just(str(sane).lower() if isinstance(sane, bool) else sane) | value
        (required if place < function.required else optional)[name] = value
    return st.fixed_dictionaries(required, optional=optional).map(
        lambda values: Call(function.name, types, values)
    )
