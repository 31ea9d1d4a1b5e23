"""ARCHITECTURE.md names what is there: each file, function, table and advisory lock; and it stays short."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
SQL = ROOT / "sql"
TEXT = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
QUOTED = re.findall(r"`([^`\n]+)`", TEXT)
LOCK = re.compile(r"\(1818653553, (\d+)\)")


def test_it_is_short() -> None:
    assert len(TEXT.splitlines()) <= 120


def test_each_path_is_there() -> None:
    paths = [word for word in QUOTED if "/" in word]
    assert len(paths) > 10
    assert [path for path in paths if not (ROOT / path).exists()] == []


def test_each_function_is_there() -> None:
    names = set(re.findall(r"\b(?:fn|sp|tg)_\w+|\bget_auth_lenser_id\b", TEXT))
    assert len(names) > 40
    assert names - {path.stem for path in SQL.rglob("*.sql")} == set()


def test_each_table_is_there() -> None:
    schema = (SQL / "schema.sql").read_text(encoding="utf-8")
    tables = {word for word in QUOTED if re.fullmatch(r"(?:lenses|lensers|agents)\.\w+", word)}
    assert len(tables) > 5
    assert [table for table in tables if f"create table {table} (" not in schema] == []


def test_each_numbered_advisory_lock_is_told() -> None:
    code = "\n".join(path.read_text(encoding="utf-8") for path in SQL.rglob("*.sql"))
    assert set(LOCK.findall(TEXT)) == set(re.findall(r"1818653553, (\d+)\)", code))


def test_each_state_of_a_run_is_told() -> None:
    states = SQL / "lenses/functions/runs/guard/fn_run_next_states.sql"
    body = states.read_text(encoding="utf-8").partition("$$")[2]
    told = TEXT.partition("## A run's states")[2].partition("##")[0]
    assert [state for state in re.findall(r"'(\w+)'", body) if state not in told] == []
