"""Deliveries and their secrets go along with a tenant, and meet nobody else's."""

from __future__ import annotations

from base64 import b64encode
from typing import Any
from uuid import UUID

from tests.cells.scene import Cell, TwoCells, refused
from tests.support.database import as_user
from tests.support.tenants import ALICE, BOB, populate

ALICE_ID = UUID(ALICE.lenser)
HERS = "whsec_" + b64encode(b"a" * 32).decode()
ANOTHER = "whsec_" + b64encode(b"b" * 32).decode()
HOOK = '{"name": "hook", "url": "https://operator.example/hook", "sends": ["run.failed"]}'


def operate(cell: Cell, query: str, *values: Any) -> None:
    with as_user(cell.db, None, "service_role") as conn:
        conn.execute(query, list(values))


def keep_secret(cell: Cell, secret: str) -> None:
    operate(cell, "select lenses.fn_set_delivery_secret('signing', %s)", secret)


def sign(cell: Cell, name: str, secret: str, workflow: object) -> None:
    """A delivery of this workflow, or of the operator's, that signs with this secret."""
    operate(
        cell,
        "select lenses.fn_set_delivery(jsonb_build_object('name', %s::text, 'workflow_id', %s::text, "
        "'secret_name', 'signing', 'sends', '[\"run.failed\"]'::jsonb))",
        name,
        workflow and str(workflow),
    )
    keep_secret(cell, secret)


def count(cell: Cell, name: str) -> Any:
    return cell.db.value("select count(*) from lenses.deliveries where name = %s", [name])


def test_one_deleted_in_the_new_cell_is_gone_in_the_old_one_too(two_cells: TwoCells) -> None:
    one, two = two_cells.one, two_cells.two
    populate(one.db, ALICE)
    sign(one, "hers", HERS, ALICE.workflow)
    two_cells.move(ALICE_ID, one, two)
    operate(two, "select lenses.fn_delete_delivery('hers')")
    two_cells.move(ALICE_ID, two, one)
    assert count(one, "hers") == 0


def test_one_given_to_another_workflow_of_hers_comes_back(two_cells: TwoCells) -> None:
    one, two = two_cells.one, two_cells.two
    populate(one.db, ALICE)
    sign(one, "hers", HERS, ALICE.workflow)
    two_cells.move(ALICE_ID, one, two)
    other = two.db.value(
        "insert into lenses.workflows (lenser_id, title) values (%s, 'w') returning id", [ALICE_ID]
    )
    sign(two, "hers", HERS, other)
    two_cells.move(ALICE_ID, two, one)
    assert one.db.value("select workflow_id from lenses.deliveries where name = 'hers'") == other


def test_secrets_of_one_name_do_not_meet(two_cells: TwoCells) -> None:
    """She would sign with the secret of somebody else, whose receiver would believe her."""
    one, two = two_cells.one, two_cells.two
    populate(one.db, ALICE)
    sign(one, "hers", HERS, ALICE.workflow)
    sign(two, "the operator's", ANOTHER, None)
    with refused("23505", 'the secret "signing"'):
        two_cells.move(ALICE_ID, one, two)
    keep_secret(two, HERS)
    two_cells.move(ALICE_ID, one, two)


def test_a_secret_that_nobody_signs_with_yet_stays(two_cells: TwoCells) -> None:
    one, two = two_cells.one, two_cells.two
    populate(one.db, ALICE)
    sign(one, "hers", HERS, ALICE.workflow)
    keep_secret(two, ANOTHER)
    with refused("23505", 'the secret "signing"'):
        two_cells.move(ALICE_ID, one, two)
    assert two.db.value("select secret from lenses.delivery_secrets") == ANOTHER


def test_her_own_secret_was_changed_in_the_new_cell(two_cells: TwoCells) -> None:
    one, two = two_cells.one, two_cells.two
    populate(one.db, ALICE)
    sign(one, "hers", HERS, ALICE.workflow)
    two_cells.move(ALICE_ID, one, two)
    keep_secret(two, ANOTHER)
    two_cells.move(ALICE_ID, two, one)
    assert one.db.value("select secret from lenses.delivery_secrets") == ANOTHER


def test_events_for_the_operator_go_to_no_other_tenant(two_cells: TwoCells) -> None:
    one, two = two_cells.one, two_cells.two
    populate(one.db, ALICE)
    populate(two.db, BOB)
    operate(one, "select lenses.fn_set_delivery(%s::jsonb)", HOOK)
    one.db.execute(
        "insert into lenses.outbox (event_id, delivery, lenser_id, event_type, order_key, payload) "
        "values (gen_random_uuid(), 'hook', %s, 'run.failed', %s, '{}')",
        [ALICE_ID, ALICE_ID],
    )
    operate(
        two,
        "select lenses.fn_set_delivery(%s::jsonb || jsonb_build_object('workflow_id', %s::text))",
        HOOK,
        BOB.workflow,
    )
    with refused("23505", 'the delivery "hook"'):
        two_cells.move(ALICE_ID, one, two)


def test_what_stays_behind_goes_with_its_secret(two_cells: TwoCells) -> None:
    one, two = two_cells.one, two_cells.two
    populate(one.db, ALICE)
    sign(one, "hers", HERS, ALICE.workflow)
    two_cells.move(ALICE_ID, one, two)
    while one.db.value("select lenses.fn_purge_history_batch(now() + interval '1 year', 1000)"):
        pass
    assert count(one, "hers") == 0
    assert one.db.value("select count(*) from lenses.delivery_secrets") == 0
    assert count(two, "hers") == 1
