"""What an operator's role cannot do to a schedule by writing its row."""

from __future__ import annotations

import psycopg
import pytest

from tests.support.database import Database
from tests.support.setups import acting
from tests.support.tenants import ALICE, BOB

PATCH = "select public.fn_patch_workflow_schedule(%s, %s)"


def policy(conn: Database) -> dict[str, object]:
    return conn.value(
        "select approval_policy from lenses.workflow_schedules where id = %s", [ALICE.schedule]
    )


@pytest.mark.parametrize(
    "change",
    [
        """approval_policy = '{"requiresApproval":false,"gates":["deploy","pay"]}'""",
        """approval_policy = '{"requiresApproval":true,"gates":["pay"]}'""",
        """approval_policy = '{"requiresApproval":true}'""",
        "approval_policy = '{\"requiresApproval\":false}', dispatch_seq = dispatch_seq + 1",
        "workflow_assignment_id = null",
    ],
)
def test_approval_is_not_lowered(change: str, two_tenants: Database) -> None:
    with_gates = '{"approval_policy":{"requiresApproval":true,"gates":["deploy","pay"]}}'
    two_tenants.execute("select set_config('request.jwt.claims', %s, true)", [ALICE.claims])
    two_tenants.execute("set local role authenticated")
    two_tenants.execute(PATCH, [ALICE.schedule, with_gates])
    two_tenants.execute("set local role none")
    before = policy(two_tenants)
    with (
        pytest.raises(psycopg.errors.InsufficientPrivilege, match="only its owner"),
        acting(two_tenants, "service_role"),
    ):
        two_tenants.execute(
            f"update lenses.workflow_schedules set {change} where id = %s", [ALICE.schedule]
        )
    assert policy(two_tenants) == before


def test_its_owner_may_lower_it_and_operators_may_raise_it(two_tenants: Database) -> None:
    with acting(two_tenants, "authenticated", ALICE.claims):
        two_tenants.execute(
            PATCH, [ALICE.schedule, '{"approval_policy":{"requiresApproval":false}}']
        )
        two_tenants.execute("set local role service_role")
        two_tenants.execute(
            "update lenses.workflow_schedules set approval_policy = %s where id = %s",
            ['{"requiresApproval":true,"gates":["pay"]}', ALICE.schedule],
        )
        assert policy(two_tenants)["gates"] == ["pay"]


@pytest.mark.parametrize(
    "change",
    [
        "cron_expr = 'garbage'",
        "timezone = 'UTC+8'",
        'queue_policy = \'{"mode":"nothing"}\'',
        "pre_dispatch_condition = '{\"a\":1}'",
        f"assignee_id = '{BOB.agent}'",
        f"calendar_id = '{BOB.calendar}'",
        f"workflow_id = '{BOB.workflow}'",
        f"lenser_id = '{BOB.lenser}'",
        "created_at = 'infinity'",
        "created_at = '-infinity'",
        "due_at = 'infinity'",
    ],
)
@pytest.mark.parametrize("seq", ["", ", dispatch_seq = dispatch_seq + 1"])
def test_no_update_goes_unchecked(change: str, seq: str, two_tenants: Database) -> None:
    """The mark that the dispatcher leaves on its own writes is worth nothing in another role's."""
    with pytest.raises(psycopg.Error) as caught, acting(two_tenants, "service_role"):
        two_tenants.execute(
            f"update lenses.workflow_schedules set {change}{seq} where id = %s", [ALICE.schedule]
        )
    assert caught.value.sqlstate in ("22023", "23503", "42501")


def test_the_anchor_and_the_next_slot_stay_together(two_tenants: Database) -> None:
    """Of an interval without start_at: its slots count from created_at cut to the minute."""
    two_tenants.execute("set local role service_role")
    changed = "update lenses.workflow_schedules set {} where id = %s returning *"
    since = (
        "extract(epoch from next_run_at - date_trunc('minute', created_at))::integer %% 3600 as rest, "
        "next_run_at > now() and next_run_at <= now() + interval '1 hour' as is_next, "
        "(select d.due_at from lenses.schedule_due as d where d.schedule_id = id) = next_run_at as is_due"
    )
    for change in (
        "schedule_type = 'interval', interval_ms = 3600000, cron_expr = null",
        "created_at = '2020-01-01 00:17:42+00'",
        "description = 'another'",
        "created_at = created_at + interval '20 minutes'",
    ):
        two_tenants.execute(changed.format(change), [ALICE.schedule])
        row = two_tenants.row(
            f"select {since} from lenses.workflow_schedules where id = %s", [ALICE.schedule]
        )
        assert row == (0, True, True), change
    # with a start, or by cron, created_at anchors nothing: an explicit slot stays
    for change in (
        "start_at = '2020-01-01 00:05+00'",
        "schedule_type = 'cron', interval_ms = null, cron_expr = '0 9 * * *'",
    ):
        two_tenants.execute(changed.format(change), [ALICE.schedule])
        kept = two_tenants.row(
            changed.format("next_run_at = '2030-01-01 09:00+00'"), [ALICE.schedule]
        ).next_run_at
        row = two_tenants.row(changed.format("created_at = now()"), [ALICE.schedule])
        assert row.next_run_at == kept


def test_the_due_index_follows_whatever_is_written(two_tenants: Database) -> None:
    two_tenants.execute("set local role service_role")
    two_tenants.execute(
        "update lenses.workflow_schedules set next_run_at = '2030-01-01 09:00+00', "
        "dispatch_seq = dispatch_seq + 1 where id = %s",
        [ALICE.schedule],
    )
    two_tenants.execute("set local role none")
    assert two_tenants.value(
        "select d.due_at = s.due_at from lenses.workflow_schedules as s "
        "join lenses.schedule_due as d on d.schedule_id = s.id where s.id = %s",
        [ALICE.schedule],
    )


@pytest.mark.parametrize("zone", ["PST", "UTC+8", "posix/UTC", "foo0", "localtime"])
def test_no_zone_is_planted(zone: str, two_tenants: Database) -> None:
    """The list of known zones is believed, so not even an operator may put another name into it."""
    for sql in (
        "insert into lenses.timezones (name) values (%s)",
        "update lenses.timezones set name = %s where name = (select min(name) from lenses.timezones)",
    ):
        with (
            pytest.raises(psycopg.errors.InvalidParameterValue),
            acting(two_tenants, "service_role"),
        ):
            two_tenants.execute(sql, [zone])
    with acting(two_tenants, "service_role"):
        two_tenants.execute(
            "insert into lenses.timezones (name) values ('Asia/Kathmandu') on conflict do nothing"
        )


def test_no_zone_is_planted_by_a_publisher(two_tenants: Database) -> None:
    """Logical replication fires triggers of rows alone."""
    with (
        pytest.raises(psycopg.errors.InvalidParameterValue),
        two_tenants.transaction(force_rollback=True),
    ):
        for name in ("insert", "update"):
            two_tenants.execute(
                f"alter table lenses.timezones disable trigger timezones_guard_{name}"
            )
        two_tenants.execute("set local session_replication_role = 'replica'")
        two_tenants.execute("insert into lenses.timezones (name) values ('foo0')")


@pytest.mark.parametrize(
    "lowered", ['{"requiresApproval":false,"gates":["deploy"]}', '{"requiresApproval":true}']
)
def test_an_assignments_gates_are_not_lowered(lowered: str, two_tenants: Database) -> None:
    """Every schedule that goes by the assignment would lose them, with no word from its owner."""
    change = "update agents.workflow_assignments set approval_policy = %s where id = %s"
    two_tenants.execute(change, ['{"requiresApproval":true,"gates":["deploy"]}', ALICE.assignment])
    with (
        pytest.raises(psycopg.errors.InsufficientPrivilege, match="raised, not lowered"),
        acting(two_tenants, "service_role"),
    ):
        two_tenants.execute(change, [lowered, ALICE.assignment])
    with acting(two_tenants, "service_role"):
        two_tenants.execute(
            change, ['{"requiresApproval":true,"gates":["deploy","pay"]}', ALICE.assignment]
        )
