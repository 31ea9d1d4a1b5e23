"""`health()` runs lf-sql schedule health against the test's database; a line a check."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from typing import Any

import pytest

from tests.support.command import Command, commander
from tests.support.database import Database, Tenant

Health = Callable[..., "Lines"]


class Lines:
    """The answer of `schedule health --json`, by check and by schedule."""

    def __init__(self, rows: list[dict[str, Any]], text: str) -> None:
        self.rows = rows
        self.text = text

    def check(self, name: str) -> dict[str, Any]:
        (row,) = [row for row in self.rows if row["check_name"] == name]
        return row

    def of(self, schedule: object) -> dict[str, dict[str, Any]]:
        """Label and line of one schedule's findings."""
        return {row["label"]: row for row in self.rows if row["schedule_id"] == str(schedule)}


def follow(advice: str, lf: Command, db: Database) -> None:
    """Do as an advice says: a command line of ours, or SQL; what follows # or -- explains it."""
    if advice.startswith("lf-sql "):
        lf(*shlex.split(advice, comments=True)[1:])
    else:
        assert advice.split()[0] in ("select", "call", "delete", "alter", "begin"), advice
        for statement in (
            advice.partition(" -- ")[0].strip("; ").split("; ")
        ):  # one by one, as psql does
            db.execute(statement)


def asker(lf: Command) -> Health:
    def health(*args: object, code: int | None) -> Lines:
        rows = lf("schedule", "health", *args, "--json", code=code).json
        return Lines(rows, lf("schedule", "health", *args, code=code).out)

    return health


@pytest.fixture
def lf(
    db: Database, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Command:
    return commander(capsys, monkeypatch, db.dsn)


@pytest.fixture
def health(lf: Command) -> Health:
    """`health(code=1)`: the exit code is checked."""
    return asker(lf)


@pytest.fixture
def owner(tenant: Callable[..., Tenant]) -> Tenant:
    return tenant("owner")


@pytest.fixture
def ticking(db: Database) -> Callable[[], None]:
    """A tick just now, as lf-sql worker makes one."""

    def tick() -> None:
        number = db.value("select lenses.fn_tick_begin('worker')")
        while db.value("select lenses.fn_tick_step(%s)", [number]):
            pass
        db.execute("select lenses.fn_tick_end(%s)", [number])

    tick()
    return tick
