"""pgTAP files as pytest items: tests/sql/**/*.sql, each in begin … rollback, over one database."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from tests.support.state import state_of

_LINE = re.compile(r"^(not )?ok (\d+)(?: - (.*))?$")
_PLAN = re.compile(r"^1\.\.(\d+)")


class TapFailure(Exception):
    """The file's output, where it is not what it planned."""


class TapFile(pytest.File):
    def collect(self) -> Iterable[pytest.Item]:
        yield TapItem.from_parent(self, name=self.path.stem)


class TapItem(pytest.Item):
    def runtest(self) -> None:
        state = state_of(self.config)
        command = ["psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1"]
        command += ["-d", state.server.dsn(state.tap_database()), "-f", str(self.path)]
        run = subprocess.run(command, capture_output=True, text=True, check=False, cwd="/")
        problems = list(judge(run.stdout))
        if run.returncode:
            problems.append(f"psql ended with {run.returncode}")
        if problems:
            raise TapFailure("\n".join([*problems, "", run.stdout, run.stderr]))

    def repr_failure(
        self, excinfo: pytest.ExceptionInfo[BaseException], style: object = None
    ) -> str:
        if isinstance(excinfo.value, TapFailure):
            return str(excinfo.value)
        return str(super().repr_failure(excinfo))

    def reportinfo(self) -> tuple[Path, int, str]:
        return self.path, 0, str(self.path.relative_to(self.config.rootpath))


def judge(output: str) -> Iterator[str]:
    """What is wrong with a TAP output; nothing where every planned test passed."""
    planned: int | None = None
    numbers = []
    for line in output.splitlines():
        if plan := _PLAN.match(line):
            planned = int(plan[1])
        elif result := _LINE.match(line):
            numbers.append(int(result[2]))
            if result[1]:
                yield f"not ok {result[2]} - {result[3] or ''}"
    if not planned:
        yield "no plan, or a plan of no tests"
    elif numbers != list(range(1, planned + 1)):
        yield f"planned {planned} tests, ran {len(numbers)}"
