"""Each refusal of one field names it: `column` in `raise`, which the console and `lf-sql apply` read."""

from __future__ import annotations

import re
from pathlib import Path

import psycopg
import pytest

from tests.support.database import Database

SQL = Path(__file__).parents[2] / "sql"
RAISE = re.compile(r"raise exception using\n(?P<fields>.*?);\n", re.DOTALL)
COLUMN = re.compile(r"^ *column = (?P<value>.*?),?$", re.MULTILINE)
# Bad input, and rows that the table's constraints would refuse.
CODES = ("22023", "23502", "23505", "23514")

# Refusals of no single field: how many in which function, and why.
WITHOUT = {
    "fn_calendar_dates": (1, "of calendars that are stored already"),
    "fn_check_retry": (2, "of the run's state"),
    "fn_check_run_change": (2, "of several columns at once"),
    "fn_complete_together": (1, "a signal to the caller, which catches it"),
    "fn_cron_count": (1, "of the stretch from p_after to p_until"),
    "fn_decide_run": (2, "of the run's state"),
    "fn_run_schedule": (1, "of a guard's decision"),
    "tg_gateway_cron_runs_check": (1, "of several columns at once"),
}


def refusals() -> list[tuple[Path, str]]:
    """File and fields of each refusal of a value."""
    return [
        (path, found["fields"])
        for path in sorted(SQL.rglob("functions/**/*.sql"))
        for found in RAISE.finditer(path.read_text(encoding="utf-8"))
        if re.search(rf"errcode = '(?:{'|'.join(CODES)})'", found["fields"])
    ]


def test_each_refusal_names_its_column() -> None:
    found = refusals()
    assert len(found) > 150
    without = {}
    for path, fields in found:
        if not COLUMN.search(fields):
            without[path.stem] = without.get(path.stem, 0) + 1
    assert without == {name: count for name, (count, _) in WITHOUT.items()}


def test_a_column_is_one_or_a_parameter() -> None:
    schema = (SQL / "schema.sql").read_text(encoding="utf-8")
    columns = set(re.findall(r"^  (\w+) ", schema, re.MULTILINE))
    for path, fields in refusals():
        said = COLUMN.search(fields)
        literal = said and re.fullmatch(r"'(\w+)[\w.]*'", said["value"])
        if literal:
            text = path.read_text(encoding="utf-8")
            assert literal[1] in columns or f"p_{literal[1]} " in text, (path.stem, literal[0])


@pytest.mark.parametrize(
    ("name", "column"),
    [
        ("jitter_ms", "jitter_ms"),
        ("p_limit", "limit"),
        ("p_filter.since", "filter.since"),
        ("patch.cron_expr", "cron_expr"),
        ("settings.batch_size", "batch_size"),
        ("delivery.url", "url"),
        ("workflow.kind", "kind"),
        ('trigger "a".b".timezone', "timezone"),
        ("retry_policy.maxRetries", "retry_policy.maxRetries"),
        ("filter", "pre_dispatch_condition"),
    ],
)
def test_the_column_of_a_name_in_a_message(shared_db: Database, name: str, column: str) -> None:
    assert shared_db.value("select lenses.fn_error_column(%s)", [name]) == column


@pytest.mark.parametrize(
    ("call", "column"),
    [
        ("lenses.fn_set_dispatch_settings('{\"batch_size\": 0}')", "batch_size"),
        ('lenses.fn_set_dispatch_settings(\'{"retention": "1 day"}\')', "retention"),
        ("lenses.fn_set_dispatch_settings('[]')", "settings"),
        ('lenses.fn_set_delivery(\'{"name": ""}\')', "name"),
        ("lenses.fn_set_delivery('{\"timeout_ms\": 1}')", "timeout_ms"),
        ('lenses.fn_set_delivery(\'{"headers": {"Host": "a"}}\')', "headers.Host"),
        ("lenses.fn_claim_workflow_runs('w', -1)", "limit"),
    ],
)
def test_an_operator_s_call_names_it(shared_db: Database, call: str, column: str) -> None:
    with pytest.raises(psycopg.Error) as caught, shared_db.transaction():
        shared_db.execute(f"select {call}")
    assert caught.value.diag.column_name == column
