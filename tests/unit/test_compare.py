"""Comparing catalogues, and the texts in them."""

from __future__ import annotations

import pytest

from lf_sql.canonical import canonical
from lf_sql.compare import Catalogue, Damage, compare, damage


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("((a AND b) AND c)", "(a AND b AND c)"),
        ("(a AND (b AND c))", "((a AND b) AND c)"),
        ("(((a = 1) OR (b = 2)) OR (c = 3))", "((a = 1) OR (b = 2) OR (c = 3))"),
        ("CHECK (((a > 0) AND (b > 0)))", "CHECK ((a > 0) AND (b > 0))"),
    ],
)
def test_brackets_that_do_not_matter(left: str, right: str) -> None:
    assert canonical(left) == canonical(right)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("((a AND b) OR c)", "(a AND (b OR c))"),
        ("(NOT (a OR b))", "((NOT a) OR b)"),
        ("(a = 'x (y)')", "(a = 'x y')"),
        ("(a AND b)", "(a OR b)"),
        ("((a - b) - c)", "(a - (b - c))"),
        ("(a = 'AND')", "(a = 'OR')"),
    ],
)
def test_brackets_that_matter(left: str, right: str) -> None:
    assert canonical(left) != canonical(right)


def problems(expected: Catalogue, actual: Catalogue, same_server: bool = True) -> list[str]:
    return [str(f) for f in compare(expected, actual, same_server=same_server)]


def test_what_is_missing_unexpected_and_different() -> None:
    expected: Catalogue = {
        ("table", "a"): {"acl": ["x:SELECT"], "columns": {"id": "uuid", "n": "text"}},
        ("table", "b"): {},
        ("view", "v"): {"view_def": "1", "owner": "me"},
    }
    actual: Catalogue = {
        ("table", "a"): {"acl": ["y:SELECT"], "columns": {"id": "text", "m": "text"}},
        ("table", "c"): {},
        ("index", "mine"): {},
        ("view", "v"): {"view_def": "2", "owner": "you"},
    }
    assert problems(expected, actual) == [
        "table a: acl lacks x:SELECT",
        "table a: acl has unexpected y:SELECT",
        "table a: columns: id is text, should be uuid",
        "table a: columns: m is text",
        "table a: columns: n is missing, should be text",
        "table b: missing",
        "table c: unexpected",
        "view v: owner is you, should be me",
        "view v: another view",
    ]
    assert "view v: another view" not in problems(expected, actual, same_server=False)


def test_only_what_migrations_make_is_damage() -> None:
    """Owners, grants and definitions are mended by a replay."""
    whole = {"columns": {"id": "uuid", "n": "text"}, "owner": "o"}
    expected: Catalogue = {
        ("table", "a"): whole,
        ("table", "b"): whole,
        ("index", "i"): {"valid": True},
        ("view", "v"): {"owner": "o"},
    }
    before: Catalogue = {
        ("table", "a"): {"columns": {"id": "uuid"}, "owner": "me"},
        ("table", "b"): {**whole, "owner": "me"},
    }
    assert damage(before, expected) == (
        Damage("table", "a", whole, {"columns": {"id": "uuid"}}),
        Damage("index", "i", {"valid": True}, None),
    )
