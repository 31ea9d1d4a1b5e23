"""Numbers of a file are kept digit by digit: stored, compared, shown and exported."""

from __future__ import annotations

import json
from decimal import Decimal

import pytest

from lf_sql.ascode import exact
from tests.support.command import Command
from tests.support.database import Database
from tests.surface.conftest import File

pytestmark = pytest.mark.usefixtures("owner")
FINE = "12345678901234567.89"


def shop(number: str) -> str:
    return (
        "workflows:\n  W:\n"
        f"    definition: {{nodes: [{{id: a, amount: {number}}}], edges: []}}\n"
        "    schedules:\n"
        f"      s:\n        every: 6h\n        inputs: {{amount: {number}}}\n"
        f"        rotation: [{{amount: {number}}}]\n"
    )


def stored(db: Database) -> list[str]:
    found: list[str] = db.value(
        "select array[inputs_template ->> 'amount', inputs_rotation #>> '{0,amount}', "
        "(select definition #>> '{nodes,0,amount}' from lenses.workflows)] "
        "from lenses.workflow_schedules"
    )
    return found


@pytest.mark.parametrize(
    "number",
    [FINE, "-0.1", "0.123456789012345678901234567890123456789", "123456789012345678901234567890"],
)
def test_every_digit_arrives_and_comes_back(
    lf: Command, file: File, db: Database, number: str
) -> None:
    lf("apply", file(shop(number)))
    assert stored(db) == [number] * 3
    assert "nothing differs" in lf("diff", file(shop(number))).err
    exported = lf("export", "--yaml").out
    assert exported.count(f"amount: {number}") == 3
    assert "nothing differs" in lf("diff", file(exported)).err
    shown = lf("export", "--yaml", "--json").out
    assert shown.count(f'"amount": {number}') == 3
    assert json.loads(shown, parse_float=Decimal)["workflows"]["W"]


def test_the_last_digit_is_a_change(lf: Command, file: File, db: Database) -> None:
    lf("apply", file(shop(FINE)))
    other = FINE.replace(".89", ".12")
    said = lf("diff", file(shop(other)), code=1).out
    assert f'inputs: {{"amount": {FINE}}} → {{"amount": {other}}}' in said
    assert f'"amount": {other}' in lf("diff", "--json", file(shop(other)), code=1).out
    lf("apply", file(shop(other)))
    assert stored(db) == [other] * 3


@pytest.mark.parametrize(
    ("one", "same"),
    [("1.0", "1"), ("1e3", "1000"), ("1.50", "1.5"), ("-0.0", "0"), ("1e-7", "0.0000001")],
)
def test_other_spellings_are_no_change(lf: Command, file: File, one: str, same: str) -> None:
    lf("apply", file(shop(one)))
    assert "nothing differs" in lf("diff", file(shop(same))).err
    assert "nothing differs" in lf("diff", file(shop(one))).err


def test_what_the_database_holds_is_exported(lf: Command, file: File, db: Database) -> None:
    lf("apply", file(shop("1")))
    db.execute(
        'update lenses.workflow_schedules set inputs_template = \'{"amount": 1e20, "b": 2.50}\''
    )
    exported = lf("export", "--yaml").out
    assert "{b: 2.5, amount: 100000000000000000000}" in exported
    assert "nothing differs" in lf("diff", file(exported)).err


@pytest.mark.parametrize(
    ("number", "said"),
    [
        ("1e999", "this number is too large: 1e999"),
        ("1e-999", "this number is too small: 1e-999"),
        ("1e99999999999999999999", "this number cannot be read: 1e9"),
        ("1e-999999999", "this number is too small: 1e-9"),
        ("1." + "0" * 16383 + "1", "this number has too many digits after the point: 1.0"),
    ],
)
def test_a_number_beyond_all(lf: Command, file: File, number: str, said: str) -> None:
    assert (
        f"a.yaml:3: workflows.W.definition.nodes[0].amount: {said}"
        in lf("apply", file(shop(number)), code=1).err
    )


@pytest.mark.parametrize("zero", ["0e-999999999", "-0e999999999", "0." + "0" * 20000])
def test_a_zero_is_a_zero(lf: Command, file: File, db: Database, zero: str) -> None:
    lf("apply", file(shop(zero)))
    assert stored(db) == ["0"] * 3
    assert "nothing differs" in lf("diff", file(shop("0"))).err


@pytest.mark.parametrize("number", ["1e-999999999", "1e999999999", "1e-16384", "1e131072"])
def test_no_digits_that_the_database_does_not_take(number: str) -> None:
    with pytest.raises(ValueError, match="more digits than the database takes"):
        exact.digits(Decimal(number))
    assert len(exact.digits(Decimal("1e131071"))) == 131072
    assert len(exact.digits(Decimal("1e-16383"))) == 16385


def test_it_is_written_as_json_is() -> None:
    for value in ({}, [], {"a": [1, {"b": None}], "c": "ü\x7f"}, [[], {}], "x", True):
        for more in ({}, {"indent": 2}, {"sort_keys": True}, {"ensure_ascii": False}):
            assert exact.dumps(value, **more) == json.dumps(value, **more)
    assert exact.loads("1" * 5000) == Decimal("1" * 5000)
