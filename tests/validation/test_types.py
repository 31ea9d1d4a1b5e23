"""Each operator over each pair of JSON types: true for like with like, never an error."""

from __future__ import annotations

import psycopg
import pytest

from tests.validation.ask import MISSING, Json, passes, under

PAYLOADS: dict[str, Json] = {
    "missing": MISSING,
    "null": None,
    "boolean": True,
    "number": 10,
    "string": "abc",
    "instant": "2026-06-01T00:00:00Z",
    "array": [10],
    "mixed array": [None, True, 10, "abc", "2026-06-01T00:00:00Z", [10], {"a": 10}],
    "object": {"a": 10},
}
SAME: dict[str, Json] = {
    kind: PAYLOADS[kind] for kind in PAYLOADS if kind not in ("missing", "mixed array")
}
SMALLER: dict[str, Json] = SAME | {
    "boolean": False,
    "number": 9,
    "string": "abb",
    "instant": "2026-05-31T23:59:59Z",
    "array": [9],
    "object": {"a": 9},
}
LARGER: dict[str, Json] = SAME | {
    "number": 11,
    "string": "abd",
    "instant": "2026-06-01T00:00:01Z",
    "array": [11],
    "object": {"a": 11},
}
PARTS: dict[str, Json] = SAME | {
    "string": "b",
    "instant": "06-01",
    "array": [10],
    "object": {"a": 10},
}

ALIKE = {(kind, kind) for kind in SAME} | {("missing", "null")}
ELEMENTS = {("mixed array", kind) for kind in SAME}
EVERY_PAIR = {(payload, operand) for payload in PAYLOADS for operand in SAME}

TABLES: dict[str, tuple[str, dict[str, Json], set[tuple[str, str]]]] = {
    "eq": ("eq", SAME, ALIKE),
    "neq": ("neq", SAME, EVERY_PAIR - ALIKE),
    "gt smaller": ("gt", SMALLER, {("number", "number"), ("instant", "instant")}),
    "gt same": ("gt", SAME, set()),
    "gt larger": ("gt", LARGER, set()),
    "lt larger": ("lt", LARGER, {("number", "number"), ("instant", "instant")}),
    "lt same": ("lt", SAME, set()),
    "lt smaller": ("lt", SMALLER, set()),
    "contains whole": (
        "contains",
        SAME,
        {("string", "string"), ("instant", "instant"), ("array", "number")} | ELEMENTS,
    ),
    "contains part": (
        "contains",
        PARTS,
        {("string", "string"), ("instant", "instant"), ("array", "number")}
        | {("mixed array", kind) for kind in SAME if kind not in ("string", "instant")},
    ),
}


@pytest.mark.parametrize("table", TABLES)
def test_type_matrix(shared_db: psycopg.Connection, table: str) -> None:
    operator, operands, expected = TABLES[table]
    found = {
        (payload, operand)
        for payload, operand in EVERY_PAIR
        if passes(shared_db, {"/v": {operator: operands[operand]}}, under(PAYLOADS[payload]))
    }
    assert found == expected


# (operator, payload, operand, passes): strict equality, where it is easily got wrong
FINE_POINTS: list[tuple[str, Json, Json, bool]] = [
    ("eq", "10", 10, False),
    ("eq", 1, True, False),
    ("eq", 0, None, False),
    ("eq", "", None, False),
    ("eq", False, None, False),
    ("eq", [], {}, False),
    ("eq", 1, [1], False),
    ("eq", [1], 1, False),
    ("eq", [1, 2], [2, 1], False),
    ("eq", [1, 2], [1, 2], True),
    ("eq", [[]], [], False),
    ("eq", {"a": 1, "b": 2}, {"b": 2, "a": 1}, True),
    ("eq", {"a": 1, "b": 2}, {"a": 1}, False),
    ("eq", {"a": None}, {}, False),
    ("eq", "a", "A", False),
    ("eq", "\u00e9", "e\u0301", False),
    ("eq", "a", "a ", False),
    ("eq", "2026-01-01T00:00:00Z", "2026-01-01T00:00:00+00:00", False),
    ("neq", "10", 10, True),
    ("neq", {"a": 1, "b": 2}, {"a": 1}, True),
    ("contains", [{"a": 1, "b": 2}], {"a": 1}, False),
    ("contains", [{"a": 1, "b": 2}], {"b": 2, "a": 1}, True),
    ("contains", [[1, 2]], [1], False),
    ("contains", [[1, 2]], 1, False),
    ("contains", [[1, 2]], [1, 2], True),
    ("contains", [1, 2], [1, 2], False),
    ("contains", [1, 2], [], False),
    ("contains", [[]], [], True),
    ("contains", [{}], {}, True),
    ("contains", [1.0], 1, True),
    ("contains", ["10"], 10, False),
    ("contains", ["abc"], "b", False),
    ("contains", {"a": 1}, "a", False),
    ("contains", {"a": 1}, {"a": 1}, False),
    ("contains", "abc", "", True),
    ("contains", "", "", True),
    ("contains", "abc", "bc", True),
    ("contains", "abc", "ac", False),
    ("contains", "abc", "B", False),
    ("contains", "a%c", "%", True),
    ("contains", "abc", "a%", False),
    ("contains", "abc", ".", False),
    ("contains", 'say "hi"', '"', True),
    ("contains", "naïve 🙂", "🙂", True),
    ("contains", "10", 1, False),
    ("contains", 101, 0, False),
    ("contains", [], None, False),
    ("contains", None, None, False),
]


@pytest.mark.parametrize(("operator", "payload", "operand", "expected"), FINE_POINTS)
def test_fine_points(
    shared_db: psycopg.Connection, operator: str, payload: Json, operand: Json, expected: bool
) -> None:
    assert passes(shared_db, {"/v": {operator: operand}}, {"v": payload}) is expected


def test_everything_must_hold(shared_db: psycopg.Connection) -> None:
    payload = {"status": "completed", "failed": 2}
    one_path = {"/failed": {"gt": 1, "lt": 3, "neq": 5, "eq": 2}}
    assert passes(shared_db, one_path, payload)
    for operator, operand in (("gt", 2), ("lt", 2), ("neq", 2), ("eq", 3), ("contains", 2)):
        broken = {"/failed": one_path["/failed"] | {operator: operand}}
        assert not passes(shared_db, broken, payload), operator
    both = {"/status": {"eq": "completed"}, "/failed": {"lt": 3}}
    assert passes(shared_db, both, payload)
    assert not passes(shared_db, both, payload | {"status": "failed"})
    assert not passes(shared_db, both, payload | {"failed": 3})


@pytest.mark.parametrize("payload", ["null", "{}", "[]", "5", '"x"', None])
def test_no_condition_is_true(shared_db: psycopg.Connection, payload: str | None) -> None:
    for filter_ in (None, "{}"):
        row = shared_db.execute(
            "select automation.fn_eval_filter(%s::jsonb, %s::jsonb)", (filter_, payload)
        ).fetchone()
        assert row == (True,)


def test_a_payload_of_sql_null_has_no_paths(shared_db: psycopg.Connection) -> None:
    assert passes(shared_db, {"/a": {"eq": None}, "": {"eq": None}}, None)
    assert passes(shared_db, {"/a": {"neq": 1}}, None)
    for operator in ("gt", "lt", "contains"):
        assert not passes(shared_db, {"/a": {operator: None}}, None)
