"""A tenant moves where the installing role is no superuser, and where it may make no roles."""

from __future__ import annotations

from uuid import UUID

from lf_sql import bundle, verify
from lf_sql import db as product_db
from lf_sql.cells import tenant
from tests.support.setups import Setup
from tests.support.tenants import ALICE

ALICE_ID = UUID(ALICE.lenser)


def moves(one: Setup) -> None:
    """From a database with ALICE and BOB to another one, from which she was deleted."""
    with (
        one.database() as source,
        one.database() as target,
        product_db.connect(one.dsn(source.dbname, one.installer)) as leaves,
        product_db.connect(one.dsn(target.dbname, one.installer)) as arrives,
    ):
        # Both are copies of one database, as after a split: here she is left to the other cell.
        assert tenant.leave(arrives, [ALICE_ID], "one") == [ALICE_ID]
        rows = leaves.execute("select count(*) as n from lenses.workflow_schedules").fetchone()
        assert tenant.depart(leaves, [ALICE_ID], "two") == [ALICE_ID]
        assert tenant.carry(leaves, arrives, ALICE_ID)
        assert tenant.presence(leaves, ALICE_ID) == "departed"
        assert tenant.presence(arrives, ALICE_ID) == "here"
        assert (
            arrives.execute("select count(*) as n from lenses.workflow_schedules").fetchone()
            == rows
        )
        tenant.depart(arrives, [ALICE_ID], "one")
        assert tenant.take_back(arrives, [ALICE_ID]) == [ALICE_ID]
        for conn in (leaves, arrives):
            found = verify.verify(conn, bundle.load()).findings
            assert [one for one in found if one.kind == "invariant"] == []


def test_both_setups(setup: Setup) -> None:
    moves(setup)


def test_weak(weak: Setup) -> None:
    moves(weak)
