"""JSON that equals what is there, written otherwise: 2 equals 2.0, and 2 with any zeros behind it."""

from __future__ import annotations

import psycopg
import pytest

from tests.support.database import as_user
from tests.support.held import held
from tests.support.run_scenario import RunScenario
from tests.support.work import unguarded

ZEROS = "1." + 60 * "0"

POLICIES = [
    ("retry_policy", "maxRetries", 2),
    ("retry_policy", "backoffMs", 60000),
    ("queue_policy", "priority", 5),
    ("queue_policy", "maxConcurrency", 2),
    ("queue_policy", "maxBackfill", 3),
    ("queue_policy", "spreadWindowMs", 60000),
    ("approval_policy", "expiresAfterMs", 60000),
]


@pytest.mark.parametrize(("policy", "key", "number"), POLICIES)
@pytest.mark.parametrize("table", ["lenses.workflow_schedules", "agents.workflow_assignments"])
def test_a_policy_is_checked_however_its_number_is_written(
    scenario: RunScenario, table: str, policy: str, key: str, number: int
) -> None:
    if table == "lenses.workflow_schedules":
        row = scenario.make_schedule(**{policy: {key: number}})
    else:
        row = scenario._insert(
            table,
            {"workflow_id": scenario.workflow, "assignee_type": "agent", "autonomy_level": "manual",
             "assignee_id": scenario.make_agent(), policy: {key: number}},
        )  # fmt: skip
    with scenario.refused("22023", f"{number}.0; the nearest whole number is {number}"):
        scenario.db.execute(
            f"update {table} set {policy} = %s where id = %s", [f'{{"{key}": {number}.0}}', row]
        )


def test_an_owner_cannot_write_it_either(scenario: RunScenario) -> None:
    schedule = scenario.make_schedule(retry_policy={"maxRetries": 2})
    with scenario.refused("22023", "2.0"), as_user(scenario.db, scenario.tenant):
        scenario.db.execute(
            "select public.fn_patch_workflow_schedule(%s, %s)",
            [schedule, '{"retry_policy": {"maxRetries": 2.0}}'],
        )


@pytest.mark.parametrize(
    ("column", "before", "after"),
    [
        ("inputs_template", '{"n": 1}', f'{{"n": {ZEROS}}}'),
        ("inputs_rotation", '[{"n": 1}]', f'[{{"n": {ZEROS}}}]'),
        ("pre_dispatch_condition", '{"/n": {"eq": 1}}', f'{{"/n": {{"eq": {ZEROS}}}}}'),
    ],
)
def test_zeros_pass_no_limit_of_a_schedule(
    scenario: RunScenario, column: str, before: str, after: str
) -> None:
    schedule = scenario.make_schedule(**{column: before})
    with scenario.refused("22023"):
        scenario.set(schedule, **{column: after})


def test_the_quota_of_bytes_counts_what_is_written(scenario: RunScenario) -> None:
    schedule = scenario.make_schedule(inputs_template='{"n": 1}')
    used = "select template_bytes from lenses.lenser_usage where lenser_id = %s"
    before = scenario.db.value(used, [scenario.tenant.id])
    scenario.set(schedule, inputs_template='{"n": 1.00000}')
    assert scenario.db.value(used, [scenario.tenant.id]) == before + len(".00000")
    assert scenario.db.rows("select * from lenses.fn_invariant_violations()") == []


def test_zeros_pass_no_limit_of_a_definition_or_a_calendar(scenario: RunScenario) -> None:
    scenario.db.execute(
        "update lenses.workflows set definition = %s where id = %s",
        ['{"nodes": [{"id": "a", "n": 1}], "edges": []}', scenario.workflow],
    )
    with scenario.refused("22023", "40 digits"):
        scenario.db.execute(
            "update lenses.workflows set definition = %s where id = %s",
            [f'{{"nodes": [{{"id": "a", "n": {ZEROS}}}], "edges": []}}', scenario.workflow],
        )
    calendar = scenario.db.value(
        "insert into lenses.schedule_calendars (lenser_id, name, kind, rules) "
        "values (%s, 'easter', 'skip_dates', %s) returning id",
        [scenario.tenant.id, '[{"easter": 1}]'],
    )
    with scenario.refused("22023", "easter"):
        scenario.db.execute(
            "update lenses.schedule_calendars set rules = %s where id = %s",
            ['[{"easter": 1.0}]', calendar],
        )


def test_a_run_with_such_a_number_in_its_policies_goes_on(scenario: RunScenario) -> None:
    """Releases before this one took them."""
    run = scenario.run()
    policies = (
        '{"approval_policy": {"requiresApproval": false}, "retry_policy": {"maxRetries": 1.0}}'
    )
    with unguarded(scenario.db, "lenses.workflow_runs"):
        scenario.db.execute(
            "update lenses.workflow_runs set policies = %s where id = %s", [policies, run]
        )
    scenario.claim()
    scenario.let_lease_expire(run)
    assert scenario.reap() == 1
    assert scenario.row(run).status == "pending"
    scenario.claim()
    assert scenario.fail(run)
    assert scenario.row(run).status == "failed"


def test_a_schedule_with_such_numbers_goes_on(scenario: RunScenario) -> None:
    schedule = scenario.make_schedule()
    with unguarded(scenario.db, "lenses.workflow_schedules"):
        scenario.db.execute(
            "update lenses.workflow_schedules set queue_policy = %s, approval_policy = %s "
            "where id = %s",
            [
                '{"mode": "parallel", "priority": 5.0, "maxConcurrency": 2.0, "maxBackfill": 3.0}',
                '{"requiresApproval": true, "expiresAfterMs": 60000.0}',
                schedule,
            ],
        )
    with as_user(scenario.db, scenario.tenant):
        made = scenario.db.row("select * from public.fn_run_workflow_schedule_now(%s)", [schedule])
    assert (made.status, made.priority) == ("pending_approval", 5)
    scenario.set(schedule, description="touched")
    saved = scenario.schedule(schedule)
    assert (saved.description, saved.max_in_flight, saved.max_backfill) == ("touched", 2, 3)


@pytest.mark.parametrize("before", ["1.5", "-3", "1e30"])
def test_attempts_before_that_an_operator_has_written_stop_no_failure(
    scenario: RunScenario, before: str
) -> None:
    run = scenario.run()
    scenario.claim()
    scenario.db.execute(
        "update lenses.workflow_runs set metadata = metadata || %s where id = %s",
        [f'{{"attempts_before": {before}}}', run],
    )
    assert scenario.fail(run)


def test_the_policies_of_a_run_stay_as_they_are_written(scenario: RunScenario) -> None:
    run = scenario.run(policies=scenario.policies(retry={"maxRetries": 1}))
    with scenario.refused("22023", "keeps its policies"):
        scenario.db.execute(
            "update lenses.workflow_runs set policies = jsonb_set(policies, "
            "'{retry_policy,maxRetries}', '1.0') where id = %s",
            [run],
        )


@pytest.mark.parametrize(
    "result", ['{"n": 1e5000}', "[1e41]", f'{{"n": {ZEROS}}}', 70 * "[" + 70 * "]"]
)
@pytest.mark.parametrize("many", [False, True])
def test_a_result_is_limited_by_its_text_and_not_by_its_size_in_store(
    scenario: RunScenario, result: str, many: bool
) -> None:
    run = scenario.run()
    scenario.claim()
    if many:
        results = f'[{{"run_id": "{run}", "result": {result}}}]'
        assert (
            scenario.db.column("select lenses.fn_complete_workflow_runs('w', %s::jsonb)", [results])
            == []
        )
    else:
        with scenario.refused("22023", "p_result"):
            scenario.db.execute(
                "select lenses.fn_complete_workflow_run(%s, 'w', %s::jsonb)", [run, result]
            )
    assert scenario.row(run).status == "running"


LONG = f"[{', '.join(['1e131071'] * 2000)}]"
ZEROES = f"[{', '.join(['0e-16383'] * 20000)}]"
SHORT_FORMS = {
    "a definition": "select public.fn_upsert_workflow(p_title => 'x', p_definition => "
    "jsonb_build_object('nodes', '[]'::jsonb, 'edges', '[]'::jsonb, 'x', %(value)s::jsonb))",
    "a definition of another kind": "select public.fn_upsert_workflow("
    "p_title => 'x', p_definition => %(value)s::jsonb)",
    "a policy": "select public.fn_upsert_workflow_schedule(%(workflow)s, null, '* * * * *', "
    "p_retry_policy => jsonb_build_object('maxRetries', %(value)s::jsonb))",
    "inputs": "select public.fn_upsert_workflow_schedule(%(workflow)s, null, '* * * * *', "
    "p_inputs_template => jsonb_build_object('x', %(value)s::jsonb))",
    "a condition": "select public.fn_upsert_workflow_schedule(%(workflow)s, null, '* * * * *', "
    "p_pre_dispatch_condition => jsonb_build_object('/x', jsonb_build_object('in', %(value)s::jsonb)))",
    "a filter": "select * from public.fn_get_runs(jsonb_build_object('status', %(value)s::jsonb))",
    "a calendar": "select public.fn_create_schedule_calendar('x', 'skip_dates', 'UTC', null, "
    "p_rules => %(value)s::jsonb)",
    "a patch": "select public.fn_patch_workflow_schedule(%(schedule)s, %(value)s::jsonb)",
}  # fmt: skip


@pytest.mark.parametrize("value", [LONG, ZEROES], ids=["large", "zero"])
@pytest.mark.parametrize("query", SHORT_FORMS.values(), ids=SHORT_FORMS)
def test_a_short_value_with_a_long_text_is_refused_before_it_is_written_out(
    scenario: RunScenario, committed: None, query: str, value: str
) -> None:
    """Its text would have 260 megabytes or more."""
    with scenario.db.another() as conn:
        arguments = {
            "value": value, "workflow": scenario.workflow,
            "schedule": scenario.make_schedule(),
        }  # fmt: skip
        conn.execute("begin")
        before = held(conn)
        with pytest.raises(psycopg.Error) as caught, as_user(conn, scenario.tenant):
            conn.execute(query, arguments)
        conn.execute("rollback")
        assert caught.value.sqlstate == "22023", caught.value
        assert held(conn) - before < 100
