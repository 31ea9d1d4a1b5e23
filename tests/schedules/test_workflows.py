"""Workflows: versions, status, trigger_type."""

from __future__ import annotations

import uuid
from typing import Any

import psycopg
import pytest

from tests.support.callers import ACYCLIC, CYCLIC, Caller
from tests.support.database import as_user


def versions(alice: Caller, workflow_id: uuid.UUID) -> list[tuple[Any, ...]]:
    return [
        tuple(row)
        for row in alice.db.rows(
            "select version, definition, node_actions, cycle from lenses.workflow_versions "
            "where workflow_id = %s order by version",
            [workflow_id],
        )
    ]


def trigger_type(alice: Caller, workflow_id: uuid.UUID) -> str:
    return alice.db.value("select trigger_type from lenses.workflows where id = %s", [workflow_id])


def test_defaults(alice: Caller) -> None:
    row = alice.one("fn_upsert_workflow", title="t")
    assert (row.title, row.kind, row.status, row.trigger_type, row.version) == (
        "t", "workflow", "active", "manual", 1,
    )  # fmt: skip
    assert row.definition == {"nodes": [], "edges": []}
    assert row.lenser_id == alice.tenant.id
    assert versions(alice, row.id) == [(1, row.definition, [], None)]


def test_null_keeps(alice: Caller) -> None:
    row = alice.workflow(title="t", definition=ACYCLIC, kind="battle", status="paused")
    kept = alice.one("fn_upsert_workflow", workflow_id=row.id, kind=None, status=None)
    assert kept == row
    renamed = alice.one("fn_upsert_workflow", workflow_id=row.id, title="u", kind=None, status=None)
    assert (renamed.title, renamed.kind, renamed.status, renamed.version) == (
        "u",
        "battle",
        "paused",
        1,
    )


def test_each_definition_is_a_version(alice: Caller) -> None:
    row = alice.workflow(definition=ACYCLIC)
    alice.one("fn_upsert_workflow", workflow_id=row.id, definition=dict(reversed(ACYCLIC.items())))
    assert alice.one("fn_upsert_workflow", workflow_id=row.id, definition=CYCLIC).version == 2
    assert alice.one("fn_upsert_workflow", workflow_id=row.id, definition=ACYCLIC).version == 3
    assert versions(alice, row.id) == [
        (1, ACYCLIC, ["publish"], None),
        (2, CYCLIC, [], ["a", "b", "a"]),
        (3, ACYCLIC, ["publish"], None),
    ]


def test_an_id_that_nobody_has(alice: Caller) -> None:
    key = uuid.uuid4()
    alice.refused("42501", "fn_upsert_workflow", workflow_id=key)
    alice.refused("42501", "fn_upsert_workflow", workflow_id=key, title="mine")
    assert alice.rows("fn_get_workflows") == []


@pytest.mark.parametrize(
    ("bad", "says"),
    [
        ({"kind": "batle"}, '"battle"'),
        ({"status": "activ"}, '"active"'),
        ({"title": "x" * 501}, "title"),
        ({"definition": []}, "definition"),
        ({"definition": {"nodes": [{"id": "a"}], "edges": [{"from": "a", "to": "b"}]}}, '"b"'),
        ({"definition": {"nodes": [{"id": "a"}, {"id": "a"}]}}, '"a"'),
    ],
)
def test_bad_input(alice: Caller, bad: dict[str, Any], says: str) -> None:
    if isinstance(bad.get("definition"), list):
        bad = {"definition": "[]"}
    row = alice.workflow(title="t")
    found = alice.refused("22023", "fn_upsert_workflow", workflow_id=row.id, **bad)
    assert says in found.message_primary
    alice.refused("22023", "fn_upsert_workflow", **bad)
    assert alice.rows("fn_get_workflows") == [row]


@pytest.mark.parametrize("status", ["gone", "", None, "Active"])
def test_unknown_status(alice: Caller, status: str | None) -> None:
    row = alice.workflow()
    alice.refused("22023", "fn_set_workflow_status", workflow_id=row.id, status=status)


def test_status(alice: Caller) -> None:
    row = alice.workflow()
    for status in ("paused", "deprecated", "active"):
        assert (
            alice.one("fn_set_workflow_status", workflow_id=row.id, status=status).status == status
        )


@pytest.mark.usefixtures("committed")
def test_the_list(alice: Caller, bob: Caller) -> None:
    rows = [alice.workflow(title=title) for title in ("z", "a", "m")]
    bob.workflow()
    assert alice.rows("fn_get_workflows") == rows
    alice.one("fn_set_workflow_status", workflow_id=rows[1].id, status="deleted")
    assert [row.title for row in alice.rows("fn_get_workflows")] == ["z", "m"]


def test_first_and_last_schedule_set_trigger_type(alice: Caller) -> None:
    row = alice.workflow()
    one = alice.schedule(row.id, is_active=False)
    assert trigger_type(alice, row.id) == "schedule"
    two = alice.schedule(row.id)
    alice.one("fn_delete_workflow_schedule", schedule_id=one.id)
    assert trigger_type(alice, row.id) == "schedule"
    alice.one("fn_pause_workflow_schedule", schedule_id=two.id)
    assert trigger_type(alice, row.id) == "schedule"
    alice.one("fn_delete_workflow_schedule", schedule_id=two.id)
    assert trigger_type(alice, row.id) == "manual"
    kept = alice.db.row("select version, updated_at from lenses.workflows where id = %s", [row.id])
    assert tuple(kept) == (1, row.updated_at)


def test_trigger_type_follows_any_path(alice: Caller) -> None:
    one, two = alice.workflow(), alice.workflow()
    alice.db.execute(
        "insert into lenses.workflow_schedules (workflow_id, cron_expr) select id, '0 9 * * *' from lenses.workflows"
    )
    assert trigger_type(alice, one.id) == trigger_type(alice, two.id) == "schedule"
    alice.db.execute("update lenses.workflows set trigger_type = 'manual'")
    assert trigger_type(alice, one.id) == "schedule"
    alice.db.execute("delete from lenses.workflow_schedules")
    assert trigger_type(alice, one.id) == trigger_type(alice, two.id) == "manual"
    alice.db.execute("update lenses.workflows set trigger_type = 'schedule'")
    assert trigger_type(alice, one.id) == "manual"


def test_deleted_loses_its_schedules(alice: Caller) -> None:
    row, other = alice.workflow(), alice.workflow()
    alice.schedule(row.id)
    alice.schedule(row.id, is_active=False)
    kept = alice.schedule(other.id)
    gone = alice.one("fn_set_workflow_status", workflow_id=row.id, status="deleted")
    assert (gone.status, gone.trigger_type) == ("deleted", "manual")
    assert [s.id for s in alice.rows("fn_workflow_get_schedules")] == [kept.id]
    assert (
        alice.one("fn_set_workflow_status", workflow_id=row.id, status="active").trigger_type
        == "manual"
    )


@pytest.mark.parametrize("role", ["service_role", "lf_sql_engine", "postgres", "replica"])
@pytest.mark.parametrize(
    "attempt",
    [
        "update lenses.workflow_versions set definition = '{}'",
        "delete from lenses.workflow_versions",
        "truncate lenses.workflow_versions",
    ],
)
def test_versions_are_immutable(alice: Caller, role: str, attempt: str) -> None:
    row = alice.workflow(definition=ACYCLIC)
    with alice.db.transaction():
        if role == "replica":
            alice.db.execute("set local session_replication_role = replica")
        else:
            alice.db.execute("select set_config('role', %s, true)", [role])
        with pytest.raises(psycopg.errors.InsufficientPrivilege), alice.db.transaction():
            alice.db.execute(attempt)
    assert versions(alice, row.id) == [(1, ACYCLIC, ["publish"], None)]


def test_versions_cannot_be_made_up(alice: Caller) -> None:
    """A definition without its gates would be a way around them."""
    row = alice.workflow(definition=ACYCLIC)
    for version, definition in ((2, "{}"), (1, "{}"), (0, "{}")):
        with (
            pytest.raises(psycopg.errors.InvalidParameterValue),
            as_user(alice.db, None, "service_role") as conn,
        ):
            conn.execute(
                "insert into lenses.workflow_versions (workflow_id, version, definition) values (%s, %s, %s)",
                [row.id, version, definition],
            )


def test_versions_restored_before_their_triggers_work_out_the_same(alice: Caller) -> None:
    row = alice.workflow(definition=ACYCLIC)
    alice.one("fn_upsert_workflow", workflow_id=row.id, definition=CYCLIC)
    before = versions(alice, row.id)
    dumped = alice.db.rows(
        "select workflow_id, version, lenser_id, definition from lenses.workflow_versions"
    )
    with alice.db.transaction():
        alice.db.execute("alter table lenses.workflow_versions disable trigger user")
        alice.db.execute("delete from lenses.workflow_versions")
        alice.db.execute("alter table lenses.workflow_versions enable trigger user")
    for one in dumped:
        for _ in range(2):
            alice.db.execute(
                "insert into lenses.workflow_versions (workflow_id, version, lenser_id, definition) values (%s, %s, %s, %s)",
                [*one[:3], psycopg.types.json.Jsonb(one[3])],
            )
    assert versions(alice, row.id) == before


def test_a_workflow_takes_its_versions_along(alice: Caller) -> None:
    row = alice.workflow(definition=ACYCLIC)
    alice.schedule(row.id)
    alice.db.execute("delete from lenses.workflows where id = %s", [row.id])
    assert versions(alice, row.id) == []


def test_the_version_is_the_tables_own(alice: Caller, bob: Caller) -> None:
    row = alice.workflow(definition=ACYCLIC)
    for change in (
        "version = 7",
        f"lenser_id = '{bob.tenant.id}'",
        "status = 'x'",
        "definition = '[]'",
    ):
        with pytest.raises(psycopg.errors.InvalidParameterValue), alice.db.transaction():
            alice.db.execute(f"update lenses.workflows set {change} where id = %s", [row.id])
    assert alice.rows("fn_get_workflows") == [row]
