"""PostgREST shows `public` alone: what stands in `lenses` for executors has its namesake there."""

from __future__ import annotations

import pytest

from tests.support.database import as_user
from tests.support.run_scenario import RunScenario

EXECUTORS = (
    "fn_claim_workflow_runs", "fn_heartbeat_workflow_run", "fn_append_run_event",
    "fn_complete_workflow_run", "fn_fail_workflow_run", "fn_reap_workflow_runs",
    "fn_complete_workflow_runs", "fn_heartbeat_workflow_runs", "fn_book_run_credits",
)  # fmt: skip
OWNERS = (
    "fn_decide_workflow_run", "fn_decide_workflow_runs", "fn_run_workflow_schedule_now",
    "fn_backfill_schedule", "fn_get_schedule_run_history", "fn_get_runs", "fn_get_run",
)  # fmt: skip


@pytest.mark.parametrize(
    "name",
    [
        *EXECUTORS,
        "fn_cancel_workflow_run",
        "fn_cancel_workflow_runs",
        "fn_decide_workflow_runs",
        "fn_retry_workflow_run",
    ],
)
def test_the_namesake_has_the_same_parameters(scenario: RunScenario, name: str) -> None:
    signatures = scenario.db.column(
        "select pg_get_function_arguments(oid) || ' -> ' || pg_get_function_result(oid) "
        "from pg_proc where proname = %s order by pronamespace::regnamespace::text",
        [name],
    )
    assert len(signatures) == 2
    assert signatures[0] == signatures[1]


@pytest.mark.parametrize(
    ("names", "roles"),
    [
        (EXECUTORS, {"service_role"}),
        (OWNERS, {"authenticated"}),
        (
            ("fn_cancel_workflow_run", "fn_cancel_workflow_runs", "fn_retry_workflow_run"),
            {"authenticated", "service_role"},
        ),
    ],
)
def test_who_may_execute_them(
    scenario: RunScenario, names: tuple[str, ...], roles: set[str]
) -> None:
    for name in names:
        found = set(
            scenario.db.column(
                "select r.rolname::text from pg_roles as r, pg_proc as p "
                "where p.proname = %s and p.pronamespace = 'public'::regnamespace "
                "and r.rolname in ('anon', 'authenticated', 'service_role') "
                "and has_function_privilege(r.oid, p.oid, 'execute')",
                [name],
            )
        )
        assert found == roles, name


def test_a_run_from_claim_to_end_through_public(scenario: RunScenario) -> None:
    run = scenario.run()
    with as_user(scenario.db, None, "service_role") as conn:
        (claimed,) = conn.rows("select * from public.fn_claim_workflow_runs('w')")
        assert claimed.id == run
        for call in (
            "fn_heartbeat_workflow_run(%s, 'w', '1 minute')",
            "fn_append_run_event(%s, 'w', 'node.done', '{}')",
            "fn_fail_workflow_run(%s, 'w', 'timeout', 'slow')",
        ):
            assert conn.value(f"select public.{call}", [run]) is True
        conn.execute("select public.fn_claim_workflow_runs('w')")
        assert conn.value("select public.fn_complete_workflow_run(%s, 'w', '1')", [run]) is True
        assert conn.value("select public.fn_cancel_workflow_run(%s)", [run]) is False
        assert conn.value("select public.fn_reap_workflow_runs()") == 0
