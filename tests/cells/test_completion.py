"""Completion of cells' names in a shell."""

from __future__ import annotations

import shlex
import subprocess
import sys

import pytest

from lf_sql.cells import directory as directories
from tests.cells.fleet import Fleet, environment


def offered(env: dict[str, str], line: str) -> list[str]:
    """What bash offers for the last word of `line`."""
    words = {
        "_LF_SQL_COMPLETE": "bash_complete",
        "COMP_WORDS": line,
        "COMP_CWORD": str(len(shlex.split(f"{line}|")) - 1),
    }
    done = subprocess.run(
        [sys.executable, "-m", "lf_sql"],
        env={**env, **words}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    return [row.partition(",")[2] for row in done.stdout.splitlines() if row]


def test_names_of_cells(fleet: Fleet) -> None:
    fleet.add("berlin")
    env = environment(fleet)
    for line in (
        "lf-sql cells set b",
        "lf-sql cells split b",
        "lf-sql cells move 3f0c6f0e-6f0f-4c3e-9d5b-0c9a4a1f7a11 --to b",
        "lf-sql cells metrics --cell b",
        "lf-sql --cell b",
        "lf-sql schedule list --cell b",
        "lf-sql runs work --cell b",
    ):
        assert offered(env, line) == ["b", "berlin"], line
    assert offered(env, "lf-sql cells set ") == ["a", "b", "berlin"]
    assert offered(env, "lf-sql cells set bx") == []
    assert offered(env, "lf-sql cells add b") == []  # a new cell has a new name
    del env[directories.VARIABLE]
    assert offered(env, "lf-sql cells set b") == []
    given = shlex.quote(fleet.directory_dsn)
    assert offered(env, f"lf-sql cells set --directory {given} be") == ["berlin"]


@pytest.mark.parametrize("address", ["host=/nowhere dbname=x", "host=", "{home}"])
def test_without_a_directory_it_is_silent(fleet: Fleet, address: str) -> None:
    """Nobody answers, the address is none, there is no directory in the database."""
    dsn = fleet.databases["a"].dsn if address == "{home}" else address
    env = {**environment(fleet), directories.VARIABLE: dsn}
    assert offered(env, "lf-sql schedule list --cell a") == []
