"""What a caller sets in his session moves no slot and changes no answer."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.cron.test_parse import HINTS, PARSE
from tests.cron.vectors import refusal
from tests.security.rpcs import CALLS, arguments, call, make_ready
from tests.support.database import Database
from tests.support.setups import acting
from tests.support.tenants import ALICE

SESSIONS = {
    "Istanbul, German dates": {"timezone": "Europe/Istanbul", "datestyle": "German, DMY"},
    "Kathmandu, SQL dates": {"timezone": "Asia/Kathmandu", "datestyle": "SQL, MDY"},
    "Los Angeles, old intervals": {
        "timezone": "America/Los_Angeles",
        "intervalstyle": "postgres_verbose",
        "datestyle": "Postgres, MDY",
    },
    "a POSIX zone, terse output": {
        "timezone": "<-11>+11",
        "intervalstyle": "iso_8601",
        "bytea_output": "escape",
        "extra_float_digits": "-15",
        "xmloption": "document",
    },
    "odd planning": {
        "transform_null_equals": "on",
        "enable_seqscan": "off",
        "enable_hashjoin": "off",
        "enable_nestloop": "off",
        "plan_cache_mode": "force_generic_plan",
        "standard_conforming_strings": "off",
        "array_nulls": "off",
        "quote_all_identifiers": "on",
        "default_transaction_deferrable": "on",
    },
}


def instants(answer: Any) -> Any:
    """Each time of day as the instant that it is; fresh ids and how long ago left out."""
    if isinstance(answer, dict):
        return {
            key: instants(value)
            for key, value in answer.items()
            if key not in ("id", "idempotency_key")
        }
    if isinstance(answer, list):
        return [instants(value) for value in answer]
    if isinstance(answer, str):
        answer = re.sub(r"\b(since|for) \d+ \w+", r"\1 a time", answer)
    if isinstance(answer, str) and len(answer) > 15 and answer[:4].isdigit():
        try:
            moment = datetime.fromisoformat(answer)
        except ValueError:
            return answer
        return moment.astimezone(UTC).isoformat() if moment.tzinfo else answer
    return answer


def answers(conn: Database, name: str, settings: dict[str, str]) -> Any:
    values = arguments(name, ALICE)
    if name == "fn_backfill_schedule":  # the session's own words for a day are the session's
        values |= {"p_since": SINCE, "p_until": UNTIL}
    with acting(conn, "authenticated", ALICE.claims):
        for setting, value in settings.items():
            conn.execute("select set_config(%s, %s, true)", [setting, value])
        make_ready(conn, ALICE, name)
        return [instants(row) for row in call(conn, name, values)]


TODAY = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
SINCE = (TODAY - timedelta(days=1)).isoformat()
UNTIL = TODAY.isoformat()


@pytest.mark.parametrize("session", SESSIONS)
@pytest.mark.parametrize("name", CALLS)
def test_every_session_gets_the_same(name: str, session: str, two_tenants: Database) -> None:
    steady = answers(two_tenants, name, {"timezone": "UTC", "datestyle": "ISO, YMD"})
    assert answers(two_tenants, name, SESSIONS[session]) == steady


@pytest.mark.parametrize("session", SESSIONS)
def test_the_tick_writes_the_same(session: str, two_tenants: Database) -> None:
    written = []
    for settings in ({"timezone": "UTC"}, SESSIONS[session]):
        with acting(two_tenants, "lf_sql_engine"):
            two_tenants.execute(
                "update lenses.workflow_schedules set next_run_at = date_trunc('minute', now()) where id = %s",
                [ALICE.schedule],
            )
            for setting, value in settings.items():
                two_tenants.execute("select set_config(%s, %s, true)", [setting, value])
            assert two_tenants.value("select lenses.fn_dispatch_scheduled_workflows(now())") == 1
            written.append(
                two_tenants.rows(
                    "select payload::text, null from agents.action_logs where occurred_at = now() "
                    "union all select payload::text, null from lenses.workflow_run_events where occurred_at = now() "
                    "union all select context_inputs::text || policies::text, id::text from lenses.workflow_runs "
                    "where created_at = now() order by 1"
                )
            )
    assert written[0] == written[1]


@pytest.fixture
def old_session(own_two_tenants: Database) -> Iterator[Database]:
    """A backslash in '...' escapes here, and nothing has been compiled yet."""
    own_two_tenants.execute(
        f"alter database {own_two_tenants.dbname} set standard_conforming_strings = off"
    )
    with own_two_tenants.another() as conn:
        assert conn.value("show standard_conforming_strings") == "off"
        yield conn


def test_the_cron_language_has_no_escapes(old_session: Database, own_two_tenants: Database) -> None:
    valid = "select lenses.fn_cron_is_valid(%s)"
    assert old_session.value(valid, ["0 9 * * *"])
    for expression in [e for e, _ in HINTS] + [
        "1\n2 * * * *",
        "0\v* * * *",
        "*x * * * *",
        "s * * * *",
        "é 1",
    ]:
        assert not old_session.value(valid, [expression])
        here, there = (
            refusal(conn, PARSE, (expression,)) for conn in (old_session, own_two_tenants)
        )
        assert here and there, expression
        assert here.diag.message_primary == there.diag.message_primary
        assert here.diag.message_hint == there.diag.message_hint


def test_every_call_works_where_backslashes_escape(old_session: Database) -> None:
    """Saving a schedule among them."""
    for name in CALLS:
        answers(old_session, name, {})


def test_what_is_checked_with_patterns_is_where_backslashes_escape(old_session: Database) -> None:
    value = r'{"a": "[[[[\\\"[[[["}'
    check = "select lenses.fn_check_json(%s, 'value', 1000, 3, 100)"
    old_session.execute(check, [value])
    for worker in ("s", "\\", "w 1"):
        old_session.execute("select lenses.fn_check_claimant(%s, null)", [worker])
        old_session.execute("select agents.fn_check_worker(%s, null, null)", [worker])
        assert old_session.rows("select * from lenses.fn_claim_workflow_runs(%s)", [worker]) == []
    for blank in (" ", "\t\n"):
        for query in (
            "select lenses.fn_check_claimant(%s, null)",
            "select agents.fn_check_worker(%s, null, null)",
            "select lenses.fn_claim_workflow_runs(%s)",
            "select lenses.fn_fail_workflow_run(gen_random_uuid(), 'w', %s, null)",
        ):
            error = refusal(old_session, query, (blank,))
            assert error and error.sqlstate == "22023", query
