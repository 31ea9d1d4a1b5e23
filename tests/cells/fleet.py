"""A fleet for tests: cells on one server, a directory in a database of its own, a played clock."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

from lf_sql.cells import directory as directories
from lf_sql.cells.directory import Directory
from tests.support.cli import Run, lf_sql, succeeded
from tests.support.database import Database, connect
from tests.support.scenario import MONDAY
from tests.support.state import State

Slot = tuple[UUID, datetime]
STEP = timedelta(minutes=1)
STREAMING = {"wal_level": "replica", "max_wal_senders": "10", "hot_standby": "on"}


class Killed(BaseException):
    """The process ends here."""


def dies_at(step: str) -> Callable[[str], None]:
    """Hears of each step, and is the last to."""

    def say(what: str) -> None:
        if what == step:
            raise Killed(step)

    return say


class Fleet:
    """Commands against it, ticks of all its cells, and what came of every slot."""

    def __init__(self, state: State, stack: ExitStack) -> None:
        self.state = state
        self._stack = stack
        self.now = MONDAY
        self.databases: dict[str, Database] = {}
        self.made: Counter[str] = Counter()  # runs that the ticks of a cell have made
        self.home = state.fresh(installed=False)
        self.directory_dsn = state.server.dsn(self.home)

    def lf(self, *words: object) -> Run:
        """`lf-sql …`, its exit code unchecked."""
        env = {directories.VARIABLE: self.directory_dsn}
        return lf_sql(*map(str, words), env=env)

    def did(self, *words: object) -> str:
        return succeeded(self.lf(*words))

    @contextmanager
    def directory(self) -> Iterator[Directory]:
        with directories.opened(self.directory_dsn) as found:
            yield found

    def connect(self, name: str, dsn: str) -> Database:
        self.databases[name] = self._stack.enter_context(connect(dsn))
        return self.databases[name]

    def leave(self, name: str) -> None:
        """Close the connection to a cell whose server is about to end."""
        if conn := self.databases.pop(name, None):
            conn.close()

    def add(self, *names: str) -> None:
        """Cells in installed databases of the test server."""
        for name in names:
            dsn = self.state.server.dsn(self.state.fresh(installed=True))
            self.did("cells", "add", name, "--dsn", dsn)
            self.connect(name, dsn)

    def place(self, cell: str, schedules: int = 1, cron: str = "* * * * *") -> UUID:
        """A new tenant with a workflow and schedules; its user id."""
        user = uuid4()
        self.did("cells", "place", user, "--cell", cell, "--handle", f"t-{user.hex[:8]}")
        self.schedule(cell, user, schedules, cron)
        return user

    def schedule(self, cell: str, user: UUID, count: int, cron: str = "* * * * *") -> None:
        self.databases[cell].execute(
            "with w as (insert into lenses.workflows (lenser_id, title) "
            "select p.id, 'report' from lensers.profiles as p where p.user_id = %s "
            "returning id, lenser_id) "
            "insert into lenses.workflow_schedules "
            "(workflow_id, lenser_id, cron_expr, start_at, approval_policy) "
            "select w.id, w.lenser_id, %s, %s, '{\"requiresApproval\": false}' "
            "from w, generate_series(1, %s)",
            [user, cron, self.now, count],
        )

    def tick(self, minutes: int = 1) -> None:
        """Every cell ticks, twice, and the next minute comes."""
        for _ in range(minutes):
            for _ in range(2):
                for name in self.databases:
                    self.tick_of(name)
            self.now += STEP

    def tick_of(self, name: str) -> int:
        conn = self.databases[name]
        made = conn.value("select lenses.fn_dispatch_scheduled_workflows(%s)", [self.now])
        self.made[name] += made
        return int(made)

    def slots(self) -> set[Slot]:
        """Slots that have a run in any cell."""
        return {
            (row.schedule_id, row.scheduled_for)
            for conn in self.databases.values()
            for row in conn.rows(
                "select schedule_id, scheduled_for from lenses.workflow_runs "
                "where scheduled_for is not null"
            )
        }

    def schedules(self) -> set[UUID]:
        return {
            schedule
            for conn in self.databases.values()
            for schedule in conn.column("select id from lenses.workflow_schedules")
        }

    def expected(self, schedules: Sequence[UUID] | set[UUID]) -> set[Slot]:
        """Every minute that was played, of each schedule."""
        minutes = int((self.now - MONDAY) / STEP)
        return {(s, MONDAY + STEP * minute) for s in schedules for minute in range(minutes)}

    def active(self, user: UUID) -> list[str]:
        """The cells in which the tenant is at work."""
        return [
            name
            for name, conn in self.databases.items()
            if conn.value(
                "select count(*) from lensers.profiles as p "
                "where p.user_id = %s and p.departed_at is null",
                [user],
            )
        ]

    def claim_all(self) -> list[UUID]:
        """Every run that an executor of any cell gets."""
        found: list[UUID] = []
        for conn in self.databases.values():
            while ids := conn.column(
                "select r.id from public.fn_claim_workflow_runs('w', 100) as r"
            ):
                found += ids
        return found

    def check(self) -> None:
        """Each slot of every schedule was dispatched once over all cells, and all is in order."""
        wanted = self.expected(self.schedules())
        assert self.slots() == wanted
        assert sum(self.made.values()) == len(wanted)
        for name, conn in self.databases.items():
            found = conn.rows("select * from lenses.fn_invariant_violations()")
            assert found == [], (name, found)
        done = self.lf("cells", "verify")
        assert done.returncode == 0, done.stdout + done.stderr

    def whereabouts(self, user: UUID) -> Any:
        with connect(self.directory_dsn) as conn:
            return conn.row(
                "select c.name as cell, m.name as moving_to from lf_fleet.tenants as t "
                "join lf_fleet.cells as c on c.id = t.cell_id "
                "left join lf_fleet.cells as m on m.id = t.moving_to where t.user_id = %s",
                [user],
            )


@contextmanager
def made_fleet(state: State, *names: str) -> Iterator[Fleet]:
    with ExitStack() as stack:
        fleet = Fleet(state, stack)
        fleet.did("cells", "init")
        fleet.add(*names)
        drop = [fleet.home, *(conn.dbname for conn in fleet.databases.values())]
        yield fleet
    for name in drop:
        state.drop(name)


@contextmanager
def down(fleet: Fleet, name: str) -> Iterator[None]:
    """Nobody is let into the cell."""
    database = fleet.databases[name].dbname
    with connect(fleet.state.server.dsn()) as admin:
        admin.execute(f"alter database {database} allow_connections false")
        try:
            yield
        finally:
            admin.execute(f"alter database {database} allow_connections true")


def environment(fleet: Fleet) -> dict[str, str]:
    """For a command that is a process of its own."""
    return {**os.environ, directories.VARIABLE: fleet.directory_dsn}
