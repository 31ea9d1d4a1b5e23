"""sql/README.md: its folders are there, its table of error codes is what the functions raise."""

from __future__ import annotations

import re
from pathlib import Path

SQL = Path(__file__).parents[2] / "sql"
README = (SQL / "README.md").read_text(encoding="utf-8")
# Raised to be caught in the same function.
INSIDE = {"22007"}
WITHOUT_CODE = "P0001"
RAISE = re.compile(r"\braise exception\b(?:'(?:[^']|'')*'|[^';])*;")


def test_every_code_that_is_raised_is_in_the_table_and_no_other() -> None:
    found = set()
    for path in SQL.rglob("*.sql"):
        text = re.sub(r"--[^\n]*", "", path.read_text(encoding="utf-8"))
        for statement in RAISE.findall(text):
            codes = re.findall(r"errcode\s*=\s*'(\w{5})'", statement)
            assert len(codes) == ("errcode" in statement), f"{path}: {statement}"
            found |= set(codes) or {WITHOUT_CODE}
    table = re.findall(r"^\| `(\w{5})` \|", README, re.MULTILINE)
    assert sorted(found - INSIDE) == sorted(table)


def test_every_folder_and_script_is_in_the_table() -> None:
    rows = "\n".join(line for line in README.splitlines() if line.startswith("| `"))
    schemas = {"agents", "automation", "lensers", "lenses", "lf_sql", "public"}
    for path in SQL.iterdir():
        name = "<schema>" if path.name in schemas else path.name
        assert name == "README.md" or f"`{name}" in rows, path.name


def test_the_classes_of_the_server_s_errors_are_the_dispatcher_s() -> None:
    function = SQL / "lenses/functions/errors/fn_error_kind.sql"
    told = re.search(r"classes ((?:\d\d, )+\d\d and \d\d)", README)
    assert told
    assert re.findall(r"'(\d\d)'", function.read_text(encoding="utf-8")) == re.findall(
        r"\d\d", told[1]
    )
