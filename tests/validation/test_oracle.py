"""Random filters and payloads against the same rules written once more, in Python."""

from __future__ import annotations

import json
import random
import re
from datetime import datetime
from decimal import Decimal

import psycopg
import pytest

from tests.validation.ask import MISSING, Json

KEYS = ["a", "b", "", "0", "1", "01", "-1", "~", "/", "a/b", "~1", "é"]
SCALARS: list[Json] = [
    None,
    True,
    False,
    0,
    1,
    -1,
    2,
    Decimal("1.5"),
    Decimal("10"),
    "",
    "a",
    "ab",
    "1",
    "true",
    "null",
    "2026-01-01T00:00:00Z",
    "2026-01-01T01:00:00+01:00",
    "2026-01-01T00:00:01Z",
    "2026-02-30T00:00:00Z",
    "2026-01-01",
]
OPERATORS = ["eq", "neq", "gt", "lt", "contains"]


def value(dice: random.Random, depth: int) -> Json:
    kind = dice.random()
    if depth == 0 or kind < 0.4:
        return dice.choice(SCALARS)
    if kind < 0.7:
        return [value(dice, depth - 1) for _ in range(dice.randrange(4))]
    return {dice.choice(KEYS): value(dice, depth - 1) for _ in range(dice.randrange(4))}


def some_pointer(dice: random.Random, document: Json) -> str:
    """Most go along the document, some off it."""
    pointer = ""
    while dice.random() < 0.8:
        if isinstance(document, dict) and document and dice.random() < 0.85:
            key = dice.choice(list(document))
            document = document[key]
        elif isinstance(document, list) and document and dice.random() < 0.85:
            at = dice.randrange(len(document))
            key, document = str(at), document[at]
        else:
            key, document = dice.choice(KEYS), None
        pointer += "/" + key.replace("~", "~0").replace("/", "~1")
    return pointer


def look_up(document: Json, pointer: str) -> Json:
    for token in pointer.split("/")[1:]:
        key = token.replace("~1", "/").replace("~0", "~")
        if isinstance(document, dict) and key in document:
            document = document[key]
        elif (
            isinstance(document, list)
            and re.fullmatch("0|[1-9][0-9]*", token)
            and int(token) < len(document)
        ):
            document = document[int(token)]
        else:
            return MISSING
    return document


def same(left: Json, right: Json) -> bool:
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(same, left, right))
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(same(left[k], right[k]) for k in left)
    return left == right


def order(left: Json, right: Json) -> int | None:
    if isinstance(left, bool) or isinstance(right, bool):
        return None
    if isinstance(left, int | Decimal) and isinstance(right, int | Decimal):
        return (left > right) - (left < right)
    if isinstance(left, str) and isinstance(right, str):
        try:
            first, second = datetime.fromisoformat(left), datetime.fromisoformat(right)
        except ValueError:
            return None
        if first.tzinfo is None or second.tzinfo is None:
            return None
        return (first > second) - (first < second)
    return None


def expected(filter_: dict[str, dict[str, Json]], document: Json) -> bool:
    for pointer, tests in filter_.items():
        found = look_up(document, pointer)
        found = None if found is MISSING else found
        for operator, operand in tests.items():
            if operator == "eq":
                holds = same(found, operand)
            elif operator == "neq":
                holds = not same(found, operand)
            elif operator == "gt":
                holds = order(found, operand) == 1
            elif operator == "lt":
                holds = order(found, operand) == -1
            elif isinstance(found, list):
                holds = any(same(element, operand) for element in found)
            else:
                holds = isinstance(found, str) and isinstance(operand, str) and operand in found
            if not holds:
                return False
    return True


class Digits(json.JSONEncoder):
    def default(self, o: Json) -> Json:
        return float(o) if isinstance(o, Decimal) else super().default(o)


@pytest.mark.parametrize("seed", range(4))
def test_random_filters(shared_db: psycopg.Connection, seed: int) -> None:
    dice = random.Random(seed)
    cases = []
    for _ in range(3000):
        document = value(dice, 4)
        filter_: dict[str, dict[str, Json]] = {}
        for _ in range(dice.choice([1, 1, 1, 2, 3])):
            pointer = some_pointer(dice, document)
            found = look_up(document, pointer)
            operand = found if found is not MISSING and dice.random() < 0.3 else value(dice, 2)
            if isinstance(found, list) and found and dice.random() < 0.5:
                operand = dice.choice(found)
            filter_.setdefault(pointer, {})[dice.choice(OPERATORS)] = operand
        cases.append([filter_, document, expected(filter_, document)])
    answers = {case[2] for case in cases}
    assert answers == {True, False}
    wrong = shared_db.execute(
        """
        select c.value from jsonb_array_elements(%s::jsonb) c
        where automation.fn_eval_filter(c.value -> 0, c.value -> 1)
          is distinct from (c.value -> 2)::boolean
        limit 3
        """,
        (json.dumps(cases, cls=Digits),),
    ).fetchall()
    assert wrong == []
