"""`lf(...)` runs a command in this process against the test's database."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.support.command import Command, commander
from tests.support.database import Database, Tenant, make_tenant
from tests.support.state import State

File = Callable[..., str]


@pytest.fixture
def db(request: pytest.FixtureRequest, state: State) -> Iterator[Database]:
    """A superuser's connection to a fresh, installed database; where `owner` is asked for, with him."""
    with_owner = ("with an owner", lambda conn: make_tenant(conn, "owner"))
    kind = with_owner if "owner" in request.fixturenames else ()
    with state.borrowed(*kind) as conn:
        yield conn


@pytest.fixture
def lf(
    db: Database, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Command:
    """`lf("schedule", "list", code=0)`; the exit code is checked."""
    return commander(capsys, monkeypatch, db.dsn)


@pytest.fixture
def owner(db: Database) -> Tenant:
    """The only tenant, unless a test makes another."""
    return Tenant(*db.row("select id, user_id, handle from lensers.profiles"))


@pytest.fixture
def workflow(lf: Command, owner: Tenant) -> str:
    """A workflow called "Nightly report"."""
    return lf("workflow", "create", "Nightly report").first


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> File:
    """`file(text, name="a.yaml")` writes it into the working folder and gives its name."""
    monkeypatch.chdir(tmp_path)

    def write(text: str, name: str = "a.yaml") -> str:
        (tmp_path / name).write_text(text, encoding="utf-8")
        return name

    return write
