"""Numbers are compared exactly, as numeric, whatever their size and however they are written."""

from __future__ import annotations

import psycopg
import pytest

from tests.validation.ask import RawJson, filter_accepted, filter_refused, passes

NINES = "9" * 40

# payload, filter operand, and how the payload stands to it
ORDER: list[tuple[str, str, str]] = [
    ("1", "1", "="),
    ("1.0", "1", "="),
    ("1", "1.0", "="),
    ("1e0", "1", "="),
    ("10e-1", "1.000", "="),
    ("1E2", "100", "="),
    ("0", "-0", "="),
    ("-0.0", "0", "="),
    ("2", "10", "<"),
    ("-2", "-10", ">"),
    ("-1", "0", "<"),
    ("0.1", "0.10000000000000000001", "<"),
    ("0.30000000000000004", "0.3", ">"),
    ("9007199254740993", "9007199254740992", ">"),
    ("9007199254740992.5", "9007199254740993", "<"),
    ("9223372036854775808", "9223372036854775807", ">"),
    ("18446744073709551616", "18446744073709551615", ">"),
    (NINES, NINES, "="),
    (NINES[:-1] + "8", NINES, "<"),
    ("1e40", NINES, ">"),
    ("-1e40", "-" + NINES, "<"),
    ("1e400", NINES, ">"),
    ("-1e400", NINES, "<"),
    ("1e400", "1", ">"),
    ("1e-400", "0", ">"),
    ("-1e-400", "0", "<"),
    ("1e131000", NINES, ">"),
    ("1e-16000", "0", ">"),
    ("1e-16000", "0.00000000000000000000000000000000000001", "<"),
    ("1.7976931348623157e309", NINES, ">"),
]


@pytest.mark.parametrize(("payload", "operand", "order"), ORDER)
def test_order(shared_db: psycopg.Connection, payload: str, operand: str, order: str) -> None:
    document = RawJson(f'{{"v": {payload}}}')
    found = {
        operator: passes(shared_db, RawJson(f'{{"/v": {{"{operator}": {operand}}}}}'), document)
        for operator in ("eq", "neq", "gt", "lt")
    }
    assert found == {
        "eq": order == "=",
        "neq": order != "=",
        "gt": order == ">",
        "lt": order == "<",
    }


@pytest.mark.parametrize(
    "text", ["Infinity", "-Infinity", "NaN", "infinity", "1e400", "10", " 10 ", "0x0A", ""]
)
def test_a_string_is_no_number(shared_db: psycopg.Connection, text: str) -> None:
    for operator in ("gt", "lt"):
        assert not passes(shared_db, {"/v": {operator: 9}}, {"v": text})
        assert not passes(shared_db, {"/v": {operator: text}}, {"v": 9})
        assert not passes(shared_db, {"/v": {operator: text}}, {"v": text})


@pytest.mark.parametrize(
    "number",
    [
        NINES,
        "-" + NINES,
        "1e39",
        "0." + "1" * 39,
        "1" * 20 + "." + "2" * 20,
        "1e-39",
        "-0." + "0" * 39,
    ],
)
def test_forty_digits_are_fine(shared_db: psycopg.Connection, number: str) -> None:
    filter_accepted(shared_db, RawJson(f'{{"/v": {{"lt": {number}}}}}'))


@pytest.mark.parametrize(
    "number",
    [
        NINES + "9",
        "-" + NINES + "9",
        "1e40",
        "0." + "1" * 40,
        "1" * 21 + "." + "2" * 20,
        "1e-40",
        "1e400",
        "-1e400",
        "1e-400",
        "1e16000",
        "[1, [" + NINES + "0]]",
        '{"deep": {"er": 1e41}}',
    ],
)
def test_more_than_forty_digits_are_refused(shared_db: psycopg.Connection, number: str) -> None:
    filter_refused(shared_db, RawJson(f'{{"/v": {{"eq": {number}}}}}'), "filter", "40 digits")


@pytest.mark.parametrize(
    "word", ["9" * 41, "1." * 41, "x" + "1" * 100, '"' + "2" * 60, "\\" + "3" * 60, "\n" + "4" * 60]
)
def test_digits_in_strings_are_no_numbers(shared_db: psycopg.Connection, word: str) -> None:
    filter_accepted(shared_db, {"/v": {"eq": word}})
    filter_accepted(shared_db, {f"/{word}": {"eq": {word: [word]}}})
    assert passes(shared_db, {f"/{word}": {"contains": word}}, {word: word})
