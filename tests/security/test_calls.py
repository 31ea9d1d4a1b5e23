"""How the program calls functions: so that no type of a function's name can take the call."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import lf_sql as package
from lf_sql import bundle

# f(x) with one argument of unknown type is a cast where a type f exists and no function f takes just that.
UNTYPED = re.compile(
    r"\b(?:public|lensers|lenses|agents|automation|lf_sql)\.\w+"
    r"\(\s*(?:%s|%\(\w+\)s|@\w+@|'[^']*'|null)\s*\)",
    re.IGNORECASE,
)


def texts() -> Iterator[tuple[str, str]]:
    """Every string of the program, and every statement that it reads from a file."""
    folder = Path(package.__file__).parent
    for path in folder.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.JoinedStr):
                parts = [
                    part.value if isinstance(part, ast.Constant) else "{}" for part in node.values
                ]
                yield path.name, "".join(map(str, parts))
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield path.name, node.value
    root = bundle.sql_root()
    for path in (*root.glob("queries/*.sql"), *root.glob("*.sql")):
        yield path.name, re.sub(r"--[^\n]*", "", path.read_text())
    for job in bundle.load().jobs:
        yield job.name, job.command


@pytest.mark.parametrize(
    ("text", "is_found"),
    [
        ("select public.fn_x(%s)", True),
        ("select lenses.fn_x(\n  %(id)s )", True),
        ("select public.fn_x('a')", True),
        ("select public.fn_x(%s::uuid)", False),
        ("select public.fn_x(p_id => %s)", False),
        ("select public.fn_x(%s, %s)", False),
        ("select pg_catalog.lower(%s)", False),
    ],
)
def test_what_counts(text: str, is_found: bool) -> None:
    assert bool(UNTYPED.search(text)) == is_found


def test_one_argument_has_a_type_or_a_name() -> None:
    assert [(name, m[0]) for name, text in texts() for m in UNTYPED.finditer(text)] == []
