"""Every function that a tenant may call: by its owner, by nobody, at another tenant's rows, and at rows that are locked."""

from __future__ import annotations

import uuid

import psycopg
import pytest

from tests.security.rpcs import CALLS, NAMED_ROWS, SAME_FOR_ALL, arguments, call, call_as, snapshot
from tests.security.test_row_matrix import NOBODY
from tests.support.database import Database
from tests.support.setups import Setup, acting
from tests.support.tenants import ALICE, BOB

# An id that nobody has is the caller's to use: deploys can be repeated.
MAKES_UNKNOWN_IDS = {("fn_upsert_workflow_schedule", "p_schedule_id")}
# What a schedule points at, a link that its table's trigger refuses as it would in any INSERT.
LINKS = {"p_calendar_id", "p_assignee_id", "p_workflow_assignment_id"}


def test_no_rpc_escapes(two_tenants: Database) -> None:
    names = two_tenants.column(
        "select p.proname from pg_proc as p join lf_sql.sources as s "
        "on s.schema_name = 'public' and s.object_name = p.proname and s.kind = 'function' "
        "where p.pronamespace = 'public'::regnamespace "
        "and has_function_privilege('authenticated', p.oid, 'execute')"
    )
    assert set(names) == set(CALLS)


def test_every_row_that_can_be_named_is_tried(two_tenants: Database) -> None:
    """Each uuid argument of each such function is in NAMED_ROWS, or asks for a fresh row."""
    found = two_tenants.rows(
        "select p.proname, a.name from pg_proc as p "
        "cross join unnest(p.proargnames[1:p.pronargs], p.proargtypes::oid[]) as a (name, type) "
        "where p.proname = any(%s) and p.pronamespace = 'public'::regnamespace "
        "and a.type = 'uuid'::regtype",
        [list(CALLS)],
    )
    missing = {(name, argument) for name, argument in found} - set(NAMED_ROWS)
    assert missing == {("fn_create_schedule_calendar", "p_clone_of")}


@pytest.mark.parametrize("name", CALLS)
def test_its_owner_may(name: str, two_tenants: Database) -> None:
    call_as(two_tenants, ALICE, name)


@pytest.mark.parametrize("name", sorted(CALLS.keys() - SAME_FOR_ALL))
def test_nobody_may_not(name: str, two_tenants: Database) -> None:
    """Refused as such whatever stands in the claims, before anything is looked up."""
    for claims in NOBODY.values():
        with (
            pytest.raises(psycopg.errors.InsufficientPrivilege),
            acting(two_tenants, "authenticated", claims),
        ):
            call(two_tenants, name, arguments(name, ALICE))


def refusal(conn: Database, name: str, argument: str, value: str) -> tuple[str | None, ...]:
    """What the caller is told, with the id that he gave cut out; of the context the lines of functions,
    since the rest tells a first call of a session from a second one."""
    with pytest.raises(psycopg.Error) as caught:
        call_as(conn, ALICE, name, **{argument: value})
    diag = caught.value.diag
    context = [line for line in (diag.context or "").splitlines() if line.startswith("PL/pgSQL f")]
    told = (diag.sqlstate, diag.message_primary, diag.message_detail, diag.message_hint, *context)
    return tuple(part.replace(value, "ID") if part else part for part in told)


def states(name: str, argument: str) -> set[str]:
    names_itself = name.startswith(("fn_update", "fn_delete"))
    return {"42501", "22023"} if argument in LINKS and not names_itself else {"42501"}


@pytest.mark.parametrize(("name", "argument"), NAMED_ROWS)
def test_a_strangers_row_and_none(name: str, argument: str, two_tenants: Database) -> None:
    """Another tenant's id and one that nobody has get byte-equal answers; nothing changes."""
    foreign = BOB.ids[CALLS[name][argument][1:]]
    before = snapshot(two_tenants, BOB)
    told = refusal(two_tenants, name, argument, foreign)
    assert snapshot(two_tenants, BOB) == before
    assert told[0] in states(name, argument)
    if (name, argument) in MAKES_UNKNOWN_IDS:
        call_as(two_tenants, ALICE, name, **{argument: str(uuid.uuid4())})
        return
    assert told == refusal(two_tenants, name, argument, str(uuid.uuid4()))


def test_a_strangers_calendar_is_not_cloned(two_tenants: Database) -> None:
    wanted = {"p_name": "copy", "p_kind": None, "p_timezone": None, "p_dates": None}
    answers = []
    for source in (BOB.calendar, str(uuid.uuid4())):
        with pytest.raises(psycopg.errors.InsufficientPrivilege) as caught:
            call_as(two_tenants, ALICE, "fn_create_schedule_calendar", **wanted, p_clone_of=source)
        answers.append((caught.value.diag.message_primary or "").replace(source, "ID"))
    assert answers[0] == answers[1]


@pytest.mark.parametrize(("name", "argument"), NAMED_ROWS)
def test_a_locked_row_of_anothers_is_not_waited_for(
    name: str, argument: str, two_tenants: Database, setup: Setup
) -> None:
    """Whose row it is, is asked before it is locked."""
    foreign = BOB.ids[CALLS[name][argument][1:]]
    with two_tenants.another() as other, other.transaction(force_rollback=True):
        for table in ("lenses.workflows", "lenses.workflow_schedules", "lenses.workflow_runs",
                      "lenses.schedule_calendars", "agents.gateways", "agents.gateway_crons"):  # fmt: skip
            other.execute(f"select from {table} where lenser_id = %s for update", [BOB.lenser])
        two_tenants.execute("set local lock_timeout = '300ms'")
        with pytest.raises(psycopg.Error) as caught:
            call_as(two_tenants, ALICE, name, **{argument: foreign})
    assert caught.value.sqlstate in states(name, argument)


@pytest.mark.parametrize("name", CALLS)
def test_no_row_of_anothers_is_in_an_answer(name: str, two_tenants: Database) -> None:
    answer = repr(call_as(two_tenants, ALICE, name))
    assert BOB.secret not in answer
    assert BOB.lenser not in answer
