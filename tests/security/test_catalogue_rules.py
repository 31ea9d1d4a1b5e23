"""The rules over the whole catalogue, one file each in rules/: its offenders are the list of exceptions, no more and no
less. Each rule is seen to bite: what its header breaks must show up as a new offender."""

from __future__ import annotations

import tomllib
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

from tests.support.database import Database
from tests.support.setups import Setup

HERE = Path(__file__).parent
RULES = {path.stem: path.read_text() for path in sorted((HERE / "rules").glob("*.sql"))}
EXCEPTIONS: dict[str, dict[str, str]] = tomllib.loads((HERE / "exceptions.toml").read_text())
PRELUDE = (HERE / "prelude.sql").read_text()


def offenders(conn: Database, rule: str) -> set[str]:
    with conn.transaction():
        conn.execute("set local search_path = pg_catalog")
        found = set(conn.column(f"{PRELUDE}\n{RULES[rule]}"))
        conn.execute('set local search_path = "$user", public')
    return found


@pytest.mark.parametrize("rule", RULES)
def test_nothing_offends(rule: str, two_tenants: Database) -> None:
    listed = EXCEPTIONS.get(rule, {})
    found = offenders(two_tenants, rule)
    strangers = {o for o in found if not any(fnmatchcase(o, pattern) for pattern in listed)}
    assert not strangers, f"{RULES[rule].splitlines()[0]}"
    stale = {pattern for pattern in listed if not any(fnmatchcase(o, pattern) for o in found)}
    assert not stale, "listed as an exception, but does not offend"


@pytest.mark.parametrize("rule", RULES)
def test_the_rule_bites(rule: str, two_tenants: Database) -> None:
    [breaking] = [
        line.removeprefix("-- breaks: ")
        for line in RULES[rule].splitlines()
        if line.startswith("-- breaks: ")
    ]
    before = offenders(two_tenants, rule)
    two_tenants.execute(breaking)
    assert offenders(two_tenants, rule) - before


def test_every_exception_is_of_a_rule_and_has_a_reason() -> None:
    assert EXCEPTIONS.keys() <= RULES.keys()
    for listed in EXCEPTIONS.values():
        assert all(len(reason) > 10 for reason in listed.values())


def test_the_second_house_is_another(setup: Setup, two_tenants: Database) -> None:
    is_superuser = two_tenants.value(
        "select rolsuper from pg_roles where rolname = %s", [setup.installer]
    )
    assert is_superuser == (setup.name == "plain")
