"""`lf(...)` runs a command in this process against the test's database."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from lf_sql.cli import run
from tests.support.database import Database, Tenant


@dataclass(frozen=True)
class Answer:
    """How a command ended and what it printed."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def rows(self) -> list[dict[str, str]]:
        """Tab-separated output, a mapping a line."""
        lines = [line.split("\t") for line in self.out.splitlines()]
        return [dict(zip(lines[0], line, strict=True)) for line in lines[1:]]

    @property
    def first(self) -> str:
        """The first word: the id of what was made."""
        return self.out.split()[0]


Command = Callable[..., Answer]


@pytest.fixture
def lf(
    db: Database, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Command:
    """`lf("schedule", "list", code=0)`; the exit code is checked."""
    monkeypatch.setenv("LF_SQL_DSN", db.dsn)

    def command(*args: object, code: int = 0) -> Answer:
        capsys.readouterr()
        found = run([str(arg) for arg in args])
        said = capsys.readouterr()
        assert "Traceback" not in said.err
        assert found == code, f"exit {found}\n{said.out}\n{said.err}"
        return Answer(found, said.out, said.err)

    return command


@pytest.fixture
def owner(tenant: Callable[..., Tenant]) -> Tenant:
    """The only tenant, unless a test makes another."""
    return tenant("owner")


@pytest.fixture
def workflow(lf: Command, owner: Tenant) -> str:
    """A workflow called "Nightly report"."""
    return lf("workflow", "create", "Nightly report").first
