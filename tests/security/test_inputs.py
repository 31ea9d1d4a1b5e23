"""Hostile input at the doors that a tenant has: refused with 22023 or kept as mere text, in bounded time."""

from __future__ import annotations

import json
import re
import time

import psycopg
import pytest

from tests.security.rpcs import CALLS, arguments, call, call_as
from tests.support.database import Database
from tests.support.setups import acting
from tests.support.tenants import ALICE, BOB

UPSERT = "fn_upsert_workflow_schedule"

ZONES = [
    "FOO+167:59:59", "EST5EDT,M3.2.0,M11.1.0", "PST", "UTC+8", "+03", "-3", "foo0", "localtime",
    "posix/Europe/Istanbul", "right/UTC", "posixrules", "Factory", "%s%n", "../../etc/passwd",
    "/etc/localtime", "Europe/../Europe/Istanbul", "<script>", "' or 1=1 --", "<+03>-3", "",
]  # fmt: skip


@pytest.mark.parametrize("zone", ZONES)
def test_only_names_of_zones(zone: str, two_tenants: Database) -> None:
    with pytest.raises(psycopg.errors.InvalidParameterValue):
        call_as(two_tenants, ALICE, UPSERT, p_timezone=zone)
    with pytest.raises(psycopg.errors.InvalidParameterValue):
        call_as(two_tenants, ALICE, "fn_create_schedule_calendar", p_timezone=zone)
    with pytest.raises(psycopg.errors.InvalidParameterValue):
        call_as(two_tenants, ALICE, "fn_cron_preview", p_timezone=zone)


# Seconds: far above what a refusal takes on a loaded machine, far below what a bomb takes.
A_BOMB = 120.0

BOMBS = [
    "0 0 30 2 *", "0 0 31 4,6,9,11 *", "*" * 1001, " " * 5000, "0," * 499 + "0 * * * *",
    "1-" * 400, "\N{ARABIC-INDIC DIGIT ONE} * * * *", "0 0 1 1 *; drop table lenses.workflows",
    "0 0 0 0 0", "*/0 * * * *", "9" * 900, "@reboot", "0\N{NO-BREAK SPACE}9 * * *", "JAN * * * *",
]  # fmt: skip


@pytest.mark.parametrize("expression", BOMBS)
def test_no_expression_is_a_bomb(expression: str, two_tenants: Database) -> None:
    began = time.monotonic()
    with pytest.raises(psycopg.errors.InvalidParameterValue):
        call_as(two_tenants, ALICE, UPSERT, p_cron_expr=expression)
    assert time.monotonic() - began < A_BOMB


CONDITIONS = [
    json.dumps({"/a": {"eq": ["x"] * 1_000_000}}),
    json.dumps({"/" + "k" * 10_000_000: {"eq": 1}}),
    json.dumps({"/a": {"matches": "^(.+)(.+)(.+)(.+)\\4\\3\\1\\2c?$"}}),
    json.dumps({"/a": {"regex": "((a{1,100}){1,100}){1,100}"}}),
    json.dumps({"/a": {"like": "%" * 100}}),
    json.dumps({"/a": {"contains": "x" * 17_000}}),
    '{"/a":{"gt":' + "9" * 100_000 + "}}",
    '{"/a":' * 100 + "1" + "}" * 100,
    "[" * 5000 + "]" * 5000,
]


@pytest.mark.parametrize("condition", CONDITIONS, ids=lambda text: text[:24])
def test_no_condition_is_a_bomb(condition: str, two_tenants: Database) -> None:
    began = time.monotonic()
    with pytest.raises(psycopg.Error) as caught:
        call_as(two_tenants, ALICE, "fn_set_schedule_condition", p_condition=condition)
    assert caught.value.sqlstate in ("22023", "54001")
    assert time.monotonic() - began < A_BOMB


@pytest.mark.parametrize("p_interval_ms", [0, -1, 1, 299_999, 2**62, None])
def test_no_interval_is_a_storm(p_interval_ms: int | None, two_tenants: Database) -> None:
    with pytest.raises(psycopg.errors.InvalidParameterValue):
        call_as(
            two_tenants,
            ALICE,
            UPSERT,
            p_cron_expr=None,
            p_schedule_type="interval",
            p_interval_ms=p_interval_ms,
        )


PAGES = {
    "fn_get_runs": "p_limit",
    "fn_get_schedule_run_history": "p_limit",
    "fn_get_automation_feed": "p_limit",
    "fn_get_gateway_cron_runs": "p_limit",
    "fn_cron_preview": "p_n",
    "fn_preview_schedule_ticks": "p_n",
    "fn_get_slots": "p_limit",
    "fn_schedules_due_between": "p_limit",
}


@pytest.mark.parametrize("name", PAGES)
def test_no_page_is_endless(name: str, two_tenants: Database) -> None:
    """2147483647 is cut; every list function with a limit is here."""
    began = time.monotonic()
    answer = call_as(two_tenants, ALICE, name, **{PAGES[name]: 2**31 - 1})
    assert len(answer) <= 1000
    assert time.monotonic() - began < A_BOMB
    limited = two_tenants.column(
        "select p.proname from pg_proc as p where p.proname = any(%s) "
        "and p.pronamespace = 'public'::regnamespace and p.proargnames && array['p_limit', 'p_n']",
        [list(CALLS)],
    )
    assert set(limited) == set(PAGES)


CODE = [
    "'); drop table lenses.workflows; --",
    "$$; select pg_terminate_backend(pg_backend_pid()); $$",
    "pg_reload_conf()",
    "public.evil()",
    "{{7*7}} ${jndi:ldap://x} <script>alert(1)</script>",
    "%s %I %L %1$s \\x00 \\u0000",
    "line\u2028break\u202ertl",
]


@pytest.mark.parametrize("code", CODE)
def test_no_text_is_code(code: str, two_tenants: Database) -> None:
    """SQL in every text that a tenant may write; then everything that reads them, and a tick."""
    two_tenants.execute(
        "create function public.evil() returns void language plpgsql as "
        "$$ begin raise exception 'called'; end $$"
    )
    two_tenants.execute("select set_config('request.jwt.claims', %s, true)", [ALICE.claims])
    two_tenants.execute("set local role authenticated")
    call(two_tenants, "fn_upsert_workflow", {"p_workflow_id": ALICE.workflow, "p_title": code})
    call(
        two_tenants,
        "fn_update_schedule_calendar",
        {"p_calendar_id": ALICE.calendar, "p_name": code},
    )
    call(
        two_tenants,
        "fn_upsert_gateway",
        {"p_gateway_id": ALICE.gateway, "p_name": code, "p_endpoint": re.sub(r"\s", "", code)},
    )
    call(
        two_tenants,
        "fn_upsert_workflow_schedule",
        {
            "p_workflow_id": ALICE.workflow,
            "p_schedule_id": ALICE.schedule,
            "p_cron_expr": "* * * * *",
            "p_description": code,
            "p_global_model_id": code,
            "p_inputs_template": json.dumps({code: code}),
            "p_inputs_rotation": json.dumps([{code: code}]),
            "p_pre_dispatch_condition": json.dumps({f"/{code.replace('~', '')}": {"neq": code}}),
            "p_approval_policy": json.dumps({"requiresApproval": False, "gates": [code]}),
        },
    )
    two_tenants.execute("set local role service_role")
    two_tenants.execute(
        "update lenses.workflow_schedules set next_run_at = date_trunc('minute', now()) where id = %s",
        [ALICE.schedule],
    )
    # one slot, or two where a minute has just passed
    assert two_tenants.value("select public.fn_dispatch_tick()") in (1, 2)
    [inputs] = two_tenants.column(
        "select context_inputs from public.fn_claim_workflow_runs('w', 5) where schedule_id = %s",
        [ALICE.schedule],
    )
    assert inputs == {code: code}
    two_tenants.execute("set local role authenticated")
    for name in CALLS:
        if name.startswith(
            ("fn_get", "fn_observe", "fn_preview", "fn_workflow_get", "fn_schedule")
        ):
            call(two_tenants, name, arguments(name, ALICE))


LINKS = {
    "a run of another's schedule": "insert into lenses.workflow_runs (lenser_id, workflow_id, schedule_id) "
    "values (%(a.lenser)s, %(a.workflow)s, %(b.schedule)s)",
    "a run of another's workflow": "insert into lenses.workflow_runs (lenser_id, workflow_id) "
    "values (%(a.lenser)s, %(b.workflow)s)",
    "a run for another's agent": "insert into lenses.workflow_runs (lenser_id, workflow_id, ai_lenser_id) "
    "values (%(a.lenser)s, %(a.workflow)s, %(b.agent)s)",
    "a run for another's team": "insert into lenses.workflow_runs (lenser_id, workflow_id, team_id) "
    "values (%(a.lenser)s, %(a.workflow)s, %(b.team)s)",
    "a schedule of another's workflow": "insert into lenses.workflow_schedules (lenser_id, workflow_id, "
    "schedule_type, cron_expr, jitter_ms) values (%(a.lenser)s, %(b.workflow)s, 'cron', '0 9 * * *', 0)",
    "a team run of another's run": "insert into agents.team_runs (lenser_id, workflow_run_id) "
    "values (%(a.lenser)s, %(b.run)s)",
    "another's agent in a team": "insert into agents.team_members (team_id, ai_lenser_id, lenser_id) "
    "values (%(a.team)s, %(b.agent)s, %(a.lenser)s)",
    "limits of another's agent": "insert into agents.policies (ai_lenser_id, lenser_id) "
    "values (%(b.spare_agent)s, %(a.lenser)s)",
    "an assignment of another's workflow": "insert into agents.workflow_assignments "
    "(lenser_id, workflow_id, assignee_type, assignee_id) "
    "values (%(a.lenser)s, %(b.workflow)s, 'agent', %(a.agent)s)",
    "an assignment to another's agent": "insert into agents.workflow_assignments "
    "(lenser_id, workflow_id, assignee_type, assignee_id) "
    "values (%(a.lenser)s, %(a.workflow)s, 'agent', %(b.agent)s)",
    "a cron of another's gateway": "insert into agents.gateway_crons (lenser_id, gateway_id, operation, cron_expr) "
    "values (%(a.lenser)s, %(b.gateway)s, 'health_probe', '0 * * * *')",
    "a run of another's cron": "insert into agents.gateway_cron_runs (lenser_id, gateway_id, gateway_cron_id, operation) "
    "values (%(a.lenser)s, %(a.gateway)s, %(b.gateway_cron)s, 'health_probe')",
    "a version of another's workflow": "insert into lenses.workflow_versions (lenser_id, workflow_id, version, definition) "
    "values (%(a.lenser)s, %(b.workflow)s, 1, '{}')",
    "a due time of another's": "insert into lenses.schedule_due (schedule_id, lenser_id) "
    "values (%(b.schedule)s, %(a.lenser)s)",
}


@pytest.mark.parametrize("what", LINKS)
def test_no_link_across_tenants(what: str, two_tenants: Database) -> None:
    """Not even service_role, whom policies let pass, makes one."""
    spare = "00000099-0000-4000-8000-00000000000b"
    two_tenants.execute(
        "insert into agents.ai_lensers (id, lenser_id) values (%s, %s)", [spare, BOB.lenser]
    )
    ids = {f"a.{k}": v for k, v in ALICE.ids.items()} | {f"b.{k}": v for k, v in BOB.ids.items()}
    sql = LINKS[what].replace("%(b.spare_agent)s", f"'{spare}'")
    state = "made"
    try:
        with acting(two_tenants, "service_role"):
            if two_tenants.execute(sql, ids).rowcount == 0:
                state = (
                    "left out"  # the approval's guard lets no second row in, and records the try
                )
    except psycopg.Error as error:
        state = error.sqlstate or ""
    assert state in ("23503", "22023", "42501", "left out")


@pytest.mark.parametrize("count", [-1, -(2**31)])
@pytest.mark.parametrize("name", sorted(set(PAGES) - {"fn_get_gateway_cron_runs"}))
def test_no_page_is_smaller_than_none(name: str, count: int, two_tenants: Database) -> None:
    with pytest.raises(psycopg.errors.InvalidParameterValue) as caught:
        call_as(two_tenants, ALICE, name, **{PAGES[name]: count})
    assert str(count) in (caught.value.diag.message_primary or "")
    assert " 1 to " in (caught.value.diag.message_hint or "")
