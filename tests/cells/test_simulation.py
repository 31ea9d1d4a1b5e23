"""Sixteen cells, 1,600 tenants, 200 moves, four splits, an upgrade: each slot exactly once."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from uuid import UUID, uuid4

import pytest
from psycopg.conninfo import make_conninfo

from lf_sql.cells import journal, move, place, resume
from lf_sql.cells.directory import Directory
from tests.cells.fleet import STREAMING, Fleet, Killed, dies_at, made_fleet
from tests.support.server import TestServer
from tests.support.servers import standby_of
from tests.support.state import State

CELLS = [f"c{number:02}" for number in range(1, 17)]
TENANTS, MOVES, SPLITS = 1600, 200, 4
SCHEDULES = """
with w as (
  insert into lenses.workflows (lenser_id, title)
  select p.id, 'report' from lensers.profiles as p
  returning id, lenser_id)
insert into lenses.workflow_schedules (workflow_id, lenser_id, cron_expr, start_at, approval_policy)
select w.id, w.lenser_id, '* * * * *', %s, '{"requiresApproval": false}' from w
"""


@pytest.mark.slow
def test_nothing_is_lost_or_doubled() -> None:
    state = State()
    state._server = TestServer(STREAMING)
    with ExitStack() as stack:
        stack.callback(state.close)
        fleet = stack.enter_context(made_fleet(state, *CELLS))
        users = _placed(fleet)
        fleet.tick(2)
        _move_about(fleet, users)
        for number, name in enumerate(CELLS[:SPLITS]):
            dsn = stack.enter_context(standby_of(state.server))
            standby = make_conninfo(dsn, dbname=fleet.databases[name].dbname)
            new = f"{name}-b"
            fleet.did("cells", "split", name, "--standby", standby, "--to", new)
            fleet.connect(new, standby)
            stack.callback(fleet.leave, new)
            fleet.tick(number % 2)
        for conn in fleet.databases.values():
            conn.execute("update lf_sql.installs set source_digest = 'older'")
        fleet.did("cells", "upgrade")
        fleet.tick()
        fleet.check()
        assert len(fleet.databases) == len(CELLS) + SPLITS
        assert len(fleet.schedules()) == TENANTS
        active = Counter(
            user
            for conn in fleet.databases.values()
            for user in conn.column(
                "select user_id from lensers.profiles where departed_at is null"
            )
        )
        assert active == Counter(users)


def _placed(fleet: Fleet) -> list[UUID]:
    """Tenants where the directory puts them, each with a schedule for every minute."""
    users = [uuid4() for _ in range(TENANTS)]
    with fleet.directory() as directory:
        placed = Counter(place.place(directory, user)[0].name for user in users)
    assert placed == Counter(CELLS * (TENANTS // len(CELLS)))
    for conn in fleet.databases.values():
        conn.execute(SCHEDULES, [fleet.now])
    return users


def _move_about(fleet: Fleet, users: list[UUID]) -> None:
    """Every fourth is killed at one of its steps, and resumed or taken back later."""
    dice = random.Random(20261129)
    with fleet.directory() as directory:
        for number in range(MOVES):
            user = dice.choice(users)
            here = directory.cell_of(user).name
            to = directory.cell(dice.choice([name for name in CELLS if name != here]))
            if number % 4:
                assert move.move(directory, user, to, 0, _hears)
            else:
                with pytest.raises(Killed):
                    move.move(directory, user, to, 0, dies_at(dice.choice(move.STEPS)))
                if number % 20 == 0:
                    fleet.tick()
                _end(directory, dice.choice([resume.take_back, None]))
        assert journal.unfinished(directory) == []


def _end(directory: Directory, back: Callable[..., None] | None) -> None:
    (entry,) = journal.unfinished(directory)
    if back is not None and entry.step != "arrived" and entry.step != "departed":
        back(directory, entry, _hears)
    else:
        resume.resume(directory, entry, 0, _hears)


def _hears(_: str) -> None:
    """A step has been taken."""
