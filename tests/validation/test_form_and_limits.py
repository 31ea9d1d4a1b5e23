"""What is no filter is refused for storing and at evaluation, whatever the payload; limits to the edge."""

from __future__ import annotations

import psycopg
import pytest

from tests.validation.ask import (
    CHECK_FILTER,
    Json,
    RawJson,
    accepted,
    filter_accepted,
    filter_refused,
    passes,
    refused,
    text,
)

REFUSED: list[tuple[Json, list[str]]] = [
    (RawJson("null"), ["object", "null"]),
    (True, ["object", "true"]),
    (1, ["object", "1"]),
    ("x", ["object", "x"]),
    ([], ["object", "[]"]),
    ([{"/a": {"eq": 1}}], ["object"]),
    ({"/a": 1}, ['"/a"', "operators"]),
    ({"/a": None}, ['"/a"', "operators"]),
    ({"/a": "eq"}, ['"/a"', "operators"]),
    ({"/a": []}, ['"/a"', "operators"]),
    ({"/a": [{"eq": 1}]}, ['"/a"', "operators"]),
    ({"/a": {}}, ['"/a"', "no operator"]),
    ({"/a": {"gte": 1}}, ['"/a"', '"gte"', 'nearest is "gt"']),
    ({"/a": {"equals": 1}}, ['"/a"', '"equals"', 'nearest is "eq"']),
    ({"/a": {"EQ": 1}}, ['"EQ"', 'nearest is "eq"']),
    ({"/a": {"ne": 1}}, ['"ne"', 'nearest is "neq"']),
    ({"/a": {"contain": 1}}, ['"contain"', 'nearest is "contains"']),
    ({"/a": {"not_contains": 1}}, ['"not_contains"', 'nearest is "contains"']),
    ({"/a": {"lt ": 1}}, ['"lt "', 'nearest is "lt"']),
    ({"/a": {"": 1}}, ['""']),
    ({"/a": {"regex": "^(.+)(.+)\\2\\1$"}}, ['"regex"']),
    ({"/a": {"eq": 1, "matches": "x"}}, ['"matches"']),
    ({"/a": {"eq": 1}, "/b": {"between": [1, 2]}}, ['"/b"', '"between"']),
    ({"and": []}, ['"and"']),
    ({"or": [{"/a": {"eq": 1}}]}, ['"or"']),
    ({"not": {"/a": {"eq": 1}}}, ['"not"']),
    ({"/a": {"not": {"eq": 1}}}, ['"not"']),
    ({"a": {"eq": 1}}, ['path "a"', 'nearest is "/a"']),
]


@pytest.mark.parametrize(("filter_", "naming"), REFUSED)
def test_refused(shared_db: psycopg.Connection, filter_: Json, naming: list[str]) -> None:
    filter_refused(shared_db, filter_, *naming)


@pytest.mark.parametrize("payload", ["{}", '{"/a": 1}', '{"a": 1}', '{"a": 2}', "null", None])
def test_refused_whatever_the_payload(shared_db: psycopg.Connection, payload: str | None) -> None:
    """A false path before the bad one does not hide it."""
    for bad in ({"/a": {"gte": 1}}, {"b": {"eq": 1}}, {"/b": 1}, {"/b": {}}, {"/b~": {"eq": 1}}):
        for first in ({}, {"/a": {"eq": 1}}, {"": {"eq": 99}}, {"": {"eq": 99}, "/a": {"eq": 1}}):
            filter_ = text(first | bad)
            refused(shared_db, "automation.fn_eval_filter(%s::jsonb, %s::jsonb)", filter_, payload)


def nested(levels: int) -> str:
    return "[" * levels + "]" * levels


def test_16_kilobytes(shared_db: psycopg.Connection) -> None:
    # {"": {"eq": ""}} is 16 characters
    filter_accepted(shared_db, {"": {"eq": "x" * 16368}})
    filter_refused(shared_db, {"": {"eq": "x" * 16369}}, "filter", "16384 bytes")
    filter_accepted(shared_db, {"": {"eq": "é" * 8184}})
    filter_refused(shared_db, {"": {"eq": "é" * 8184 + "x"}}, "16384 bytes")
    filter_accepted(shared_db, {"/" + "k" * 16367: {"eq": ""}})
    filter_refused(shared_db, {"/" + "k" * 16368: {"eq": ""}}, "16384 bytes")
    filter_refused(shared_db, {"/" + "k" * 10_000_000: {"eq": ""}}, "16384 bytes")


def test_16_levels(shared_db: psycopg.Connection) -> None:
    # the filter and the operators are two of them
    filter_accepted(shared_db, RawJson('{"/a": {"eq": %s}}' % nested(14)))
    filter_refused(shared_db, RawJson('{"/a": {"eq": %s}}' % nested(15)), "filter", "16 levels")
    objects = '{"k": ' * 14 + "1" + "}" * 14
    filter_accepted(shared_db, RawJson('{"/a": {"eq": %s}}' % objects))
    filter_refused(shared_db, RawJson('{"/a": {"eq": [%s]}}' % objects), "16 levels")
    filter_accepted(shared_db, {"/a": {"eq": "[" * 100 + "{" * 100}})
    filter_accepted(shared_db, {"/a": {"eq": '["' * 100 + '\\"[' * 100}})
    filter_accepted(shared_db, {"/[[[[[[[[[[[[[[[[[[{{{{{{{{": {"eq": [[]] * 40}})


def test_256_values(shared_db: psycopg.Connection) -> None:
    # the filter, the operators and the array are three of them
    filter_accepted(shared_db, {"/a": {"eq": [0] * 253}})
    filter_refused(shared_db, {"/a": {"eq": [0] * 254}}, "filter", "256 values")
    filter_accepted(shared_db, {"/a": {"eq": [[]] * 253}})
    filter_refused(shared_db, {"/a": {"eq": [{}] * 254}}, "256 values")
    filter_accepted(shared_db, {"/a": {"eq": [",,,,[[[{{{"] * 253}})
    filter_accepted(shared_db, {f"/{n}": {"eq": n} for n in range(127)})
    filter_refused(shared_db, {f"/{n}": {"eq": n} for n in range(128)}, "256 values")
    filter_refused(
        shared_db, RawJson("{" + ",".join(f'"/{n}":{{"eq":1}}' for n in range(10_000)) + "}")
    )


@pytest.mark.parametrize("levels", [17, 64, 1000, 6000])
def test_a_deep_filter_is_refused(shared_db: psycopg.Connection, levels: int) -> None:
    filter_refused(shared_db, RawJson('{"/a": {"eq": %s}}' % nested(levels)), "filter")


def test_a_filter_of_a_hundred_thousand_levels_is_an_error(shared_db: psycopg.Connection) -> None:
    """PostgreSQL's own parser gives up first; nothing of ours runs, and nothing falls over."""
    with pytest.raises(psycopg.errors.StatementTooComplex):
        accepted(shared_db, CHECK_FILTER, '{"/a": {"eq": %s}}' % nested(100_000))
    assert passes(shared_db, {"/a": {"eq": 1}}, {"a": 1})


@pytest.mark.parametrize("levels", [1, 16, 64, 1000, 6500])
def test_a_deep_payload_is_no_error(shared_db: psycopg.Connection, levels: int) -> None:
    payload = RawJson('{"v": %s, "w": %s5%s}' % (nested(levels), '{"k": ' * levels, "}" * levels))
    for path in ("", "/v", "/v/0", "/v/0/0/0/0", "/w", "/w/k/k", "/w" + "/k" * levels):
        for operator in ("eq", "neq", "gt", "lt", "contains"):
            for operand in (None, 5, "5", [], {}):
                passes(shared_db, {path: {operator: operand}}, payload)
    if levels < 5000:
        assert passes(shared_db, {"/w" + "/k" * levels: {"eq": 5}}, payload)
        assert passes(shared_db, {"/v" + "/0" * (levels - 1): {"eq": []}}, payload)
        assert passes(shared_db, {"/v" + "/0" * levels: {"eq": None}}, payload)


def test_a_large_payload_is_no_error(shared_db: psycopg.Connection) -> None:
    row = shared_db.execute(
        """
        select automation.fn_eval_filter(f, p) from (
          select '{"/list": {"contains": 199999}, "/list/199999": {"lt": 200000},
                   "/text": {"contains": "end"}}'::jsonb as f,
            jsonb_build_object('list', (select jsonb_agg(n) from generate_series(0, 199999) n),
              'text', repeat('x', 3000000) || 'end') as p
        ) v
        """
    ).fetchone()
    assert row == (True,)
