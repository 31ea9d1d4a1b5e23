"""RFC 6901 to the letter: escapes, the empty token, and what is and is not an array index."""

from __future__ import annotations

import psycopg
import pytest

from tests.validation.ask import MISSING, Json, RawJson, filter_refused, passes

RFC = {
    "foo": ["bar", "baz"],
    "": 0,
    "a/b": 1,
    "c%d": 2,
    "e^f": 3,
    "g|h": 4,
    "i\\j": 5,
    'k"l': 6,
    " ": 7,
    "m~n": 8,
}
TILDES = {"/": 9, "~1": 10, "~": 11, "~0": 12, "": 13}
DIGITS = {"01": "zero one", "-1": "minus", "-": "dash", " 1": "blank", "0": "zero", "+1": "plus"}
XY = ["x", "y"]
LONG = list(range(12))

# (document, pointer, what it finds)
FOUND: list[tuple[Json, str, Json]] = [
    (RFC, "", RFC),
    (RFC, "/foo", ["bar", "baz"]),
    (RFC, "/foo/0", "bar"),
    (RFC, "/", 0),
    (RFC, "/a~1b", 1),
    (RFC, "/c%d", 2),
    (RFC, "/e^f", 3),
    (RFC, "/g|h", 4),
    (RFC, "/i\\j", 5),
    (RFC, '/k"l', 6),
    (RFC, "/ ", 7),
    (RFC, "/m~0n", 8),
    (RFC, "/FOO", MISSING),
    (RFC, "/foo/", MISSING),
    (RFC, "/foo/0/", MISSING),
    (RFC, "/foo/0/0", MISSING),
    (RFC, "/c%25d", MISSING),
    (TILDES, "/~1", 9),
    (TILDES, "/~01", 10),
    (TILDES, "/~0", 11),
    (TILDES, "/~00", 12),
    (TILDES, "/", 13),
    (TILDES, "", TILDES),
    (XY, "/0", "x"),
    (XY, "/1", "y"),
    (XY, "/2", MISSING),
    (LONG, "/10", 10),
    (LONG, "/11", 11),
    (LONG, "/12", MISSING),
    *[
        (XY, f"/{token}", MISSING)
        for token in [
            "",
            "00",
            "01",
            "001",
            "-0",
            "-1",
            "-2",
            "+0",
            "+1",
            " 1",
            "1 ",
            "\t1",
            "\n1",
            "1\n",
            "1\r",
            "1\v",
            "\xa01",
            "1e0",
            "1.0",
            "1.",
            "0x1",
            "1_0",
            "-",
            "~0",
            "~1",
            "x",
            "length",
            "*",
            "#",
            "１",
            "١",
            "99999999999999999999",
            "2147483648",
            "4294967296",
            "4294967297",
            "18446744073709551617",
            "999999999",
            "1000000000",
            "9" * 5000,
        ]
    ],
    *[(DIGITS, f"/{token}", value) for token, value in DIGITS.items()],
    (DIGITS, "/1", MISSING),
    ([5], "/", MISSING),
    ([5], "", [5]),
    ({"a": [5]}, "/a/", MISSING),
    ({"a": [5]}, "/a/0", 5),
    ({"": 7}, "/", 7),
    ({"": 7}, "", {"": 7}),
    ({"": {"": 8}}, "//", 8),
    ({"": {"": 8}}, "///", MISSING),
    ({"a": {"": {"b": 9}}}, "/a//b", 9),
    ({"a": [[1, [2]], {"b": [3]}]}, "/a/0/1/0", 2),
    ({"a": [[1, [2]], {"b": [3]}]}, "/a/1/b/0", 3),
    ({"a": None}, "/a/b", MISSING),
    ({"a": True}, "/a/b", MISSING),
    ({"a": "text"}, "/a/0", MISSING),
    ({"a": 5}, "/a/0", MISSING),
    (5, "/0", MISSING),
    (5, "/-1", MISSING),
    ("s", "/0", MISSING),
    (None, "/0", MISSING),
    (5, "", 5),
    ("s", "", "s"),
    ({"é": {"🙂": 1}}, "/é/🙂", 1),
    ({"e\u0301": 1}, "/\u00e9", MISSING),
]


@pytest.mark.parametrize(("document", "pointer", "value"), FOUND)
def test_pointer(shared_db: psycopg.Connection, document: Json, pointer: str, value: Json) -> None:
    looks_for = None if value is MISSING else value
    payload = RawJson("null") if document is None else document
    assert passes(shared_db, {pointer: {"eq": looks_for}}, payload)
    assert not passes(shared_db, {pointer: {"neq": looks_for}}, payload)


@pytest.mark.parametrize(
    "pointer",
    [
        "a",
        "a/b",
        "0",
        " ",
        " /a",
        "#",
        "#/a",
        "~",
        "~0",
        "~1",
        "/~",
        "/~2",
        "/a~",
        "/~/a",
        "/a/~b",
        "/~~",
        "/~0~",
        "/\n~",
        "/~\n",
        "$.a",
        "foo/0",
        "\n/a",
        "/~01~3",
    ],
)
def test_what_is_no_pointer_is_refused(shared_db: psycopg.Connection, pointer: str) -> None:
    filter_refused(shared_db, {pointer: {"eq": 1}}, f'path "{pointer}"')
    filter_refused(shared_db, {"/fine": {"eq": 1}, pointer: {"eq": 1}, "/zzzzzzzzzzzzz": {"lt": 2}})


def test_an_index_is_one_for_the_array_that_it_meets(shared_db: psycopg.Connection) -> None:
    """The same pointer, an array on the one side and an object on the other."""
    filter_ = {"/v/1": {"eq": "found"}}
    assert passes(shared_db, filter_, {"v": ["no", "found"]})
    assert passes(shared_db, filter_, {"v": {"1": "found"}})
    assert not passes(shared_db, {"/v/01": {"eq": "found"}}, {"v": ["no", "found"]})
    assert passes(shared_db, {"/v/01": {"eq": "found"}}, {"v": {"01": "found"}})
