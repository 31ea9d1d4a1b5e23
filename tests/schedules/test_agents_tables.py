"""Tables of `agents` that no RPC writes: what they fill in and refuse."""

from __future__ import annotations

import uuid
from typing import Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from tests.support.callers import Caller
from tests.support.database import as_user


def assigned(caller: Caller, **columns: Any) -> Any:
    """As service_role does it."""
    names = ", ".join(columns)
    marks = ", ".join(["%s"] * len(columns))
    values = [Jsonb(v) if isinstance(v, dict) else v for v in columns.values()]
    with as_user(caller.db, None, "service_role") as conn:
        return conn.execute(
            f"insert into agents.workflow_assignments ({names}) values ({marks}) returning *",
            values,
        ).fetchone()


def test_the_tenant_comes_from_the_parent(alice: Caller) -> None:
    agent = alice.agent()
    team = alice.db.value(
        "insert into agents.teams (lenser_id, name) values (%s, 't') returning id",
        [alice.tenant.id],
    )
    member = alice.db.row(
        "insert into agents.team_members (team_id, ai_lenser_id) values (%s, %s) returning *",
        [team, agent],
    )
    policy = alice.db.row(
        "insert into agents.policies (ai_lenser_id, spending_limit_credits) values (%s, 5) returning *",
        [agent],
    )
    row = assigned(alice, workflow_id=alice.workflow().id, assignee_type="team", assignee_id=team)
    assert member.lenser_id == policy.lenser_id == row.lenser_id == alice.tenant.id
    assert row.approval_policy == {"requiresApproval": True}


def test_no_link_across_tenants(alice: Caller, bob: Caller) -> None:
    team = alice.db.value(
        "insert into agents.teams (lenser_id) values (%s) returning id", [alice.tenant.id]
    )
    for lenser in (None, alice.tenant.id, bob.tenant.id):
        with pytest.raises(psycopg.errors.ForeignKeyViolation), alice.db.transaction():
            alice.db.execute(
                "insert into agents.team_members (team_id, ai_lenser_id, lenser_id) values (%s, %s, %s)",
                [team, bob.agent(), lenser],
            )


@pytest.mark.parametrize(
    ("bad", "says"),
    [
        ({"assignee_type": "robot"}, "robot"),
        ({"assignee_id": uuid.UUID(int=7)}, str(uuid.UUID(int=7))),
        ({"assignee_type": "team"}, "does not exist"),
        ({"approval_policy": {"gates": "publish"}}, "gates"),
        ({"retry_policy": {"maxRetry": 1}}, '"maxRetries"'),
        ({"queue_policy": {"mode": "serial", "onMissed": "backfill", "onOverlap": "skip"}}, "contradicts"),
        ({"failure_policy": {"mode": "fallback", "fallbackAssigneeId": str(uuid.UUID(int=7))}}, "fallback"),
    ],
)  # fmt: skip
def test_bad_assignments(alice: Caller, bad: dict[str, Any], says: str) -> None:
    good = {
        "workflow_id": alice.workflow().id,
        "assignee_type": "agent",
        "assignee_id": alice.agent(),
    }
    with pytest.raises(psycopg.errors.InvalidParameterValue) as caught:
        assigned(alice, **{**good, **bad})
    assert says in caught.value.diag.message_primary
    row = assigned(alice, **good)
    name, value = next(iter(bad.items()))
    with pytest.raises(psycopg.errors.InvalidParameterValue), alice.db.transaction():
        alice.db.execute(
            f"update agents.workflow_assignments set {name} = %s where id = %s",
            [Jsonb(value) if isinstance(value, dict) else value, row.id],
        )


def test_an_assignee_is_the_tenants_own(alice: Caller, bob: Caller) -> None:
    with pytest.raises(psycopg.errors.InvalidParameterValue):
        assigned(
            alice, workflow_id=alice.workflow().id, assignee_type="agent", assignee_id=bob.agent()
        )


@pytest.mark.usefixtures("committed")
def test_an_assignment_whose_assignee_is_gone_can_be_edited(alice: Caller) -> None:
    agent = alice.agent()
    row = assigned(alice, workflow_id=alice.workflow().id, assignee_type="agent", assignee_id=agent)
    alice.db.execute("delete from agents.ai_lensers where id = %s", [agent])
    changed = alice.db.row(
        "update agents.workflow_assignments set retry_policy = '{}' where id = %s returning *",
        [row.id],
    )
    assert changed.updated_at > row.updated_at


@pytest.mark.parametrize("limit", ["NaN", "-1"])
def test_a_limit_is_an_amount(alice: Caller, limit: str) -> None:
    insert = "insert into agents.policies (ai_lenser_id, spending_limit_credits) values (%s, %s)"
    with pytest.raises(psycopg.errors.CheckViolation), alice.db.transaction():
        alice.db.execute(insert, [alice.agent(), limit])
    alice.db.execute(insert, [alice.agent(), "99999999999999.9999"])
    with pytest.raises(psycopg.errors.CheckViolation), alice.db.transaction():
        alice.db.execute("update agents.policies set spending_limit_credits = %s", [limit])
