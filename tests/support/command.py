"""Commands run in the test's own process: exit code, output, and never a traceback."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from lf_sql.cli import run


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


def commander(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, dsn: str
) -> Command:
    """`lf("schedule", "list", code=0)` against the database; the exit code is checked, unless None."""
    monkeypatch.setenv("LF_SQL_DSN", dsn)

    def command(*args: object, code: int | None = 0) -> Answer:
        capsys.readouterr()
        found = run([str(arg) for arg in args])
        said = capsys.readouterr()
        assert "Traceback" not in said.err
        assert code is None or found == code, f"exit {found}\n{said.out}\n{said.err}"
        return Answer(found, said.out, said.err)

    return command
