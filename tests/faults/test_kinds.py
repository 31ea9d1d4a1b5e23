"""Whose an error is: the same answer in SQL and in Python, for every SQLSTATE that PostgreSQL has."""

from __future__ import annotations

import psycopg
import pytest
from psycopg import errors

from lf_sql.errors import CannotConnect, LfSqlError
from lf_sql.trouble import ends_session, kind_of, kind_of_refusal, kind_of_state
from tests.support.database import Database

CODES = {getattr(error, "sqlstate", None) for error in vars(errors).values()}
STATES = sorted(code for code in CODES if isinstance(code, str))

# What the product's words promise, each by hand.
KNOWN = {
    "server": "08006 08001 08P01 25006 25P03 40001 40P01 53000 53100 53200 53300 55000 55006 55P03 "
    "57014 57P01 57P02 57P03 57P05 58000 58030",
    "usage": "28000 28P01 3D000 3F000 42501 42883 42P01 42703 42704",
    "run": "22003 22021 22023 22P02 22P05 23502 23503 23505 23514 53400 54000 54001 P0001 P0004 XX000 "
    "0A000 21000 38001",
}


def test_sql_and_python_agree_on_every_sqlstate(shared_db: Database) -> None:
    assert len(STATES) > 200
    found = dict(
        shared_db.rows(
            "select s, lenses.fn_error_kind(s) from unnest(%s::text[]) as s",
            [[*STATES, "ZZ999", "P0999"]],
        )
    )
    assert found == {state: kind_of_state(state) for state in found}
    servers = shared_db.column(
        "select s from unnest(%s::text[]) as s where lenses.fn_is_server_error(s)", [STATES]
    )
    assert servers == [state for state in STATES if kind_of_state(state) == "server"]


@pytest.mark.parametrize("kind", KNOWN)
def test_what_is_known(kind: str) -> None:
    for state in KNOWN[kind].split():
        assert kind_of_state(state) == kind, state


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("FATAL: the database system is starting up", "server"),
        ("FATAL: the database system is not yet accepting connections", "server"),
        ("FATAL: the database system is shutting down", "server"),
        ("FATAL: the database system is in recovery mode", "server"),
        ("FATAL: sorry, too many clients already", "server"),
        ("FATAL: too many connections for role", "server"),
        ("FATAL: remaining connection slots are reserved for SUPERUSER", "server"),
        ("connection to server failed: session is read-only", "server"),
        ("/a: No such file or directory; /b: server is in hot standby mode", "server"),
        ("Connection refused", "nobody"),
        ("could not translate host name", "nobody"),
        ("connection timeout expired", "nobody"),
        ("server closed the connection unexpectedly", "nobody"),
        ("a text that nobody has thought of", "nobody"),
        ('FATAL: password authentication failed for user "u"', "usage"),
        ('FATAL: database "no" does not exist', "usage"),
        ("FATAL: no pg_hba.conf entry for host", "usage"),
        ("a: Connection refused; b: FATAL: password authentication failed", "nobody"),
    ],
)
def test_a_connection_that_was_not_made_is_told_by_its_words(text: str, kind: str) -> None:
    assert kind_of_refusal(text) == kind


def test_errors_without_a_sqlstate_count_by_kind() -> None:
    assert kind_of(psycopg.OperationalError("the connection is lost")) == "server"
    assert kind_of(psycopg.InterfaceError("the connection is closed")) == "server"
    assert kind_of(psycopg.DataError("PostgreSQL text fields cannot contain NUL")) == "run"
    assert kind_of(CannotConnect("x", None, "nobody")) == "server"
    assert kind_of(CannotConnect("x", None, "usage")) == "usage"
    assert kind_of(LfSqlError("not installed")) == "usage"


def test_which_errors_end_a_session(db: Database) -> None:
    with pytest.raises(psycopg.Error) as caught:
        db.execute("set statement_timeout = 1; select pg_sleep(5)")
    assert not ends_session(caught.value)
    db.execute("set statement_timeout = 0; set default_transaction_read_only = on")
    with pytest.raises(psycopg.Error) as caught:
        db.execute("create table t ()")
    assert ends_session(caught.value)
    with db.another() as other, pytest.raises(psycopg.Error) as caught:
        other.execute("select pg_terminate_backend(pg_backend_pid())")
    assert ends_session(caught.value) and kind_of(caught.value) == "server"


def test_nothing_notifies_a_queue_that_is_half_full(shared_db: Database) -> None:
    """Two functions notify, and both look at the queue first."""
    assert shared_db.column(
        "select p.proname::text from pg_proc as p "
        "where p.pronamespace::regnamespace::text in "
        "('lenses', 'agents', 'public', 'automation', 'lensers', 'lf_sql') "
        r"and p.prosrc ~* '\m(pg_notify|notify)\M' order by 1"
    ) == ["fn_notify_events", "fn_notify_executors"]
    assert shared_db.column(
        "select p.proname::text from pg_proc as p where p.proname ~ '^fn_notify_e' "
        "and p.prosrc ~ 'where pg_notification_queue_usage\\(\\) < 0.5' order by 1"
    ) == ["fn_notify_events", "fn_notify_executors"]
