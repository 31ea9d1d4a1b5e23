"""The plan: facts in, what to do or a refusal out."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lf_sql.bundle import Bundle, Migration, Source
from lf_sql.errors import Refusal
from lf_sql.plan import Applied, Installed, State, make_plan, version_key

TREE = Bundle(
    "1.2.0",
    (Migration(0, "ledger", "select 0"), Migration(1, "schemas", "select 1")),
    (Source("f.sql", "function", "lenses", "f", "select 2"),),
    {"roles": "r", "ownership": "o", "grants": "g", "assertions": "a"},
    (),
)
DONE = tuple(Applied(m.version, m.slug, m.checksum, 1) for m in TREE.migrations)
STATE = State(DONE, Installed("1.2.0", TREE.digest, 1, 15, {}), has_ledger=True)


def reasons(state: State, tree: Bundle = TREE, findings: int = 0, major: int = 15) -> list[str]:
    plan = make_plan(tree, state, role_map={}, server_major=major, findings=findings)
    return list(plan.reasons)


def test_nothing_to_do() -> None:
    assert reasons(STATE) == []


def test_a_first_install() -> None:
    assert reasons(State()) == ["migration 0000_ledger", "migration 0001_schemas", "first install"]


def test_each_thing_that_makes_it_pending() -> None:
    assert STATE.installed is not None
    assert reasons(replace(STATE, applied=DONE[:1])) == ["migration 0001_schemas"]
    older = replace(STATE, installed=replace(STATE.installed, product_version="1.1.9"))
    assert reasons(older) == ["version 1.1.9 to 1.2.0"]
    changed = replace(STATE, installed=replace(STATE.installed, source_digest="x"))
    assert reasons(changed) == ["sources changed"]
    assert reasons(STATE, major=16) == ["server moved from 15 to 16"]
    weak = replace(STATE, installed=replace(STATE.installed, role_map={"anon": "me"}))
    assert reasons(weak) == ["roles changed"]


def test_mending_is_not_an_install() -> None:
    plan = make_plan(TREE, STATE, role_map={}, server_major=15, findings=2)
    assert plan.is_mending
    assert plan.reasons == ("2 findings of verify",)


@pytest.mark.parametrize(
    ("state", "words"),
    [
        (State(schemas=frozenset({"lenses", "public"})), "schema lenses exists already"),
        (State(foreign_functions=("fn_x()",)), r"function public\.fn_x\(\) exists already"),
        (replace(STATE, applied=(*DONE, Applied(7, "later", "x", 1))), "the database is newer"),
        (
            replace(STATE, installed=Installed("1.10.0", "x", 1, 15, {})),
            r"the database is newer: it has lf-sql 1\.10\.0, this is 1\.2\.0",
        ),
        (replace(STATE, applied=(Applied(0, "ledger", "x", 1),)), "its text has changed"),
    ],
)
def test_refusals(state: State, words: str) -> None:
    with pytest.raises(Refusal, match=words):
        reasons(state)


def test_a_checksum_of_another_algorithm_is_not_compared() -> None:
    assert reasons(replace(STATE, applied=(Applied(0, "ledger", "x", 2), DONE[1]))) == []


def test_versions_are_numbers() -> None:
    assert version_key("1.10") > version_key("1.9.9")
    assert version_key("1.2.0rc1") == (1, 2, 0)
    assert version_key("1.2+local") == (1, 2)
