from __future__ import annotations

from uuid import UUID

from lf_sql.cells import tenant
from tests.cells.scene import TwoCells
from tests.support.tenants import ALICE, BOB, populate


def test_move(two_cells: TwoCells) -> None:
    one, two = two_cells.one, two_cells.two
    populate(one.db, ALICE, BOB)
    alice = UUID(ALICE.lenser)
    assert tenant.presence(one.conn, alice) == "here"
    assert tenant.presence(two.conn, alice) == "absent"
    two_cells.move(alice, one, two)
    assert tenant.presence(one.conn, alice) == "departed"
    assert tenant.presence(two.conn, alice) == "here"
    assert not tenant.carry(one.conn, two.conn, alice)
    two_cells.move(alice, two, one)
    assert tenant.presence(one.conn, alice) == "here"
    tenant.depart(one.conn, [alice], "two")
    assert two_cells.violations() == []
    assert tenant.take_back(one.conn, [alice]) == [alice]
