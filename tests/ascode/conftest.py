"""`lf(...)` against the test's database, one tenant, and files written beside the test."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.command import Command, commander
from tests.support.database import Database, Tenant

File = Callable[..., str]


@pytest.fixture
def lf(
    db: Database, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Command:
    return commander(capsys, monkeypatch, db.dsn)


@pytest.fixture(autouse=True)
def owner(tenant: Callable[..., Tenant]) -> Tenant:
    """The only tenant, unless a test makes another."""
    return tenant("owner")


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> File:
    """`file(text, name="a.yaml")` writes it into the working folder and gives its name."""
    monkeypatch.chdir(tmp_path)

    def write(text: str, name: str = "a.yaml") -> str:
        (tmp_path / name).write_text(text, encoding="utf-8")
        return name

    return write
