"""Every conformance vector, each under two sessions' settings; the answers come in one query a file."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import psycopg
import pytest

from tests.cron.vectors import SETTINGS, ids, load, refusal, session
from tests.support.database import Database

Answers = dict[str, list[Any]]


def ask(conn: Database, name: str, query: str, *keys: str) -> Answers:
    """The answers to a file's rows under each of the settings, by id."""
    rows = load(name)
    columns = [[row[key] for row in rows] for key in ("id", *keys)]
    answers: Answers = {row["id"]: [] for row in rows}
    for setting in SETTINGS:
        with session(conn, setting):
            for row_id, answer in conn.execute(query, columns).fetchall():
                answers[row_id].append(answer)
    return answers


@pytest.fixture(scope="module")
def next_answers(shared_db: Database) -> Answers:
    return ask(
        shared_db,
        "next",
        """select id, array(
            select to_char(slot at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')
              from lenses.fn_cron_next(expr, tz, after::timestamptz, 5) as slot)
           from unnest(%s::text[], %s::text[], %s::text[], %s::text[]) as v (id, expr, tz, after)""",
        "expr",
        "tz",
        "after",
    )


@pytest.fixture(scope="module")
def match_answers(shared_db: Database) -> Answers:
    return ask(
        shared_db,
        "match",
        """select id, lenses.fn_cron_matches_now(expr, at::timestamptz, tz)
           from unnest(%s::text[], %s::text[], %s::text[], %s::text[]) as v (id, expr, tz, at)""",
        "expr",
        "tz",
        "at",
    )


@pytest.mark.parametrize("row", load("next"), ids=ids("next"))
def test_next(next_answers: Answers, row: dict[str, Any]) -> None:
    assert next_answers[row["id"]] == [row["next"]] * len(SETTINGS)


@pytest.mark.parametrize("row", load("match"), ids=ids("match"))
def test_match(match_answers: Answers, row: dict[str, Any]) -> None:
    assert match_answers[row["id"]] == [row["match"]] * len(SETTINGS)


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("row", load("invalid"), ids=ids("invalid"))
def test_invalid(shared_db: Database, row: dict[str, Any], setting: str) -> None:
    with session(shared_db, setting):
        error = refusal(shared_db, "select lenses.fn_cron_parse(%s)", (row["expr"],))
        valid = shared_db.value("select lenses.fn_cron_is_valid(%s)", (row["expr"],))
    assert isinstance(error, psycopg.Error), "not refused"
    assert error.sqlstate == "22023"
    assert row["field"] in str(error.diag.message_primary)
    assert error.diag.message_hint
    assert valid is False


def case_outcome(conn: Database, row: dict[str, Any]) -> list[str] | psycopg.Error:
    """The slots of a case from `after` on, or the error it ends in."""
    expr = row["expr"]
    if "expr_sql" in row:
        expr = conn.value("select " + row["expr_sql"])
    after = row["after"] or "2026-01-01T00:00:00Z"
    wanted = 1 if row["expect"] == "error" else len(row["expect"])
    query = """select to_char(slot at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')
        from lenses.fn_cron_next(%s, %s, %s::timestamptz, %s) as slot"""
    try:
        return conn.column(query, (expr, row["tz"], after, wanted))
    except psycopg.Error as error:
        return error


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("row", load("cases"), ids=ids("cases"))
def test_case(shared_db: Database, row: dict[str, Any], setting: str) -> None:
    with session(shared_db, setting):
        outcome = case_outcome(shared_db, row)
        if row["expect"] != "error":
            assert outcome == row["expect"]
        else:
            assert isinstance(outcome, psycopg.Error), "not refused"
            assert outcome.sqlstate == "22023"
            message = str(outcome.diag.message_primary)
            assert row.get("error_field", "") in message
            assert row.get("error_token", "") in message
            assert outcome.diag.message_hint
        for at, expected in row.get("match", []):
            found = shared_db.value(
                "select lenses.fn_cron_matches_now(%s, %s::timestamptz, %s)",
                (row["expr"], datetime.fromisoformat(at), row["tz"]),
            )
            assert found is expected, at
