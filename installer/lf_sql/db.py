"""Connections: one way to make them."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import psycopg
from psycopg import conninfo
from psycopg.rows import dict_row

from lf_sql import bundle, instants, older, preflight
from lf_sql.errors import LfSqlError, WrongUsage
from lf_sql.refusals import connection_trouble, session_trouble
from lf_sql.template import literal

OLDEST_SERVER = 150000
INTEGER_MAX = 2**31 - 1  # the most that a column of type integer holds

# Neither the database's search_path nor a role's is trusted, from the first statement on.
PATH = "pg_catalog, pg_temp"
PIN = f"set local search_path = {PATH}"
_WHOLE = re.compile(r"\s*(begin|commit|rollback|call|listen|show)\b", re.IGNORECASE)


class Connection(psycopg.Connection[dict[str, Any]]):
    """Whatever it runs, it runs under our search_path.

    The path comes with the connection. A pooler may not pass it on, and lends its sessions to
    others, who would find our path in theirs: there each transaction sets its own, and each single
    statement is one. What manages transactions itself (a procedure that commits) is run as it is.
    """

    is_pinned = True
    is_installed = False  # as found before any other statement, when the owners were checked

    def execute(self, query: Any, params: Any = None, **more: Any) -> psycopg.Cursor[Any]:
        if self.is_pinned or not self._is_idle() or _WHOLE.match(_text(query)):
            try:
                return super().execute(query, params, **more)
            except psycopg.Error as error:
                older.note(error, self)
                raise
        with self.transaction():
            return super().execute(query, params, **more)

    @contextmanager
    def transaction(self, *arguments: Any, **more: Any) -> Iterator[psycopg.Transaction]:
        is_outermost = self._is_idle()
        try:
            with super().transaction(*arguments, **more) as transaction:
                if is_outermost and not self.is_pinned:
                    super().execute(PIN)
                yield transaction
        except psycopg.Error as error:
            older.note(error, self)
            raise

    def begin(self) -> None:
        """For a caller that ends its transactions itself."""
        super().execute(f"begin; {PIN}".encode())

    def _is_idle(self) -> bool:
        return self.info.transaction_status == psycopg.pq.TransactionStatus.IDLE


def _text(query: Any) -> str:
    if isinstance(query, bytes):
        return query.decode(errors="replace")
    return query if isinstance(query, str) else ""


# Settings of a role or a database that would change what our SQL means, put right.
STEADY: Mapping[str, str] = {
    "search_path": PATH,
    "statement_timeout": "0",
    "idle_in_transaction_session_timeout": "0",
    "transaction_timeout": "0",
    "client_min_messages": "warning",
    "default_tablespace": "",
    "default_table_access_method": "heap",
    "standard_conforming_strings": "on",
    "quote_all_identifiers": "off",
    "row_security": "on",
    "datestyle": "ISO, YMD",
    "intervalstyle": "postgres",
    "timezone": "UTC",
    "transform_null_equals": "off",
    "xmloption": "content",
    # Citus would copy schemas, roles and functions to every other node, and fail while one is down.
    "citus.enable_ddl_propagation": "off",
}

# Only settings that the server has.
_STEADY = (
    "pg_catalog.set_config(w.name, w.value, true) "
    "from pg_catalog.jsonb_each_text(%s::jsonb) as w (name, value) "
    "where pg_catalog.current_setting(w.name, true) is not null"
)


def filled(text: str | None, name: str) -> str | None:
    """The text of the variable or option `name`; None where it is not set, which an empty one is.

    WrongUsage for blanks alone: libpq would connect to its default server.
    """
    if text and not text.strip():
        raise WrongUsage(f"{name} has blanks alone", "give it a value, or unset it")
    return text or None


def resolve_dsn(dsn: str | None) -> str:
    """--dsn, else LF_SQL_DSN, DATABASE_URL; empty leaves it to libpq's own variables.

    WrongUsage where the first of them that is set has blanks alone.
    """
    found = filled(dsn, "the connection string")
    for name in ("LF_SQL_DSN", "DATABASE_URL"):
        found = found or filled(os.environ.get(name), name)
    return found or ""


def connect(
    dsn: str | None = None, *, application_name: str = "lf-sql", is_patient: bool = False
) -> Connection:
    """An autocommit connection without prepared statements, so that poolers are no trouble.

    A patient connection ignores the statement_timeout of the role and the database, but not one
    that the user sets: for commands that must finish, however slow the server is.
    """
    dsn = resolve_dsn(dsn)
    try:
        given = conninfo.conninfo_to_dict(dsn)
    except psycopg.ProgrammingError:  # its text repeats the string, password and all
        raise LfSqlError(
            "the connection string cannot be read",
            "write it as postgresql://user@host:5432/database or 'host=... dbname=... user=...'",
        ) from None
    except UnicodeEncodeError:
        raise LfSqlError(
            "the connection string is not UTF-8",
            "write it in UTF-8, or other bytes of a URL as %XX: --dsn, LF_SQL_DSN or DATABASE_URL",
        ) from None
    extra: dict[str, Any] = {"application_name": application_name}
    if "connect_timeout" not in given and "PGCONNECT_TIMEOUT" not in os.environ:
        extra["connect_timeout"] = 10
    try:
        conn = _connected(dsn, given, extra, is_patient)
    except psycopg.Error as error:
        raise connection_trouble(error, given) from None
    try:
        check_server(conn)
        _look_round(conn)
    except BaseException as error:
        conn.close()
        if isinstance(error, psycopg.Error):
            raise session_trouble(error, given) from None
        raise
    instants.read_all(conn)
    conn.isolation_level = psycopg.IsolationLevel.READ_COMMITTED
    # A standby takes no transaction that may write; everywhere else no setting forbids ours.
    conn.read_only = None if conn.info.parameter_status("in_hot_standby") == "on" else False
    return conn


# What a role or a database may have set, and what our SQL and the driver's reading rely on.
_OPTIONS = f"-c search_path={PATH.replace(' ', '')} -c datestyle=ISO,YMD -c row_security=on"


def _connected(
    dsn: str, given: Mapping[str, Any], extra: Mapping[str, Any], is_patient: bool
) -> Connection:
    """With our search_path among the options; without where a pooler takes no options."""
    own = given.get("options") or os.environ.get("PGOPTIONS") or ""
    first = "-c statement_timeout=0" if is_patient else ""
    options = f"{first} {own} {_OPTIONS}".strip()
    has_service = "service" in given or "PGSERVICE" in os.environ
    if has_service and not own:  # its options are libpq's to read
        return _opened(dsn, extra)
    try:
        return _opened(dsn, {**extra, "options": options})
    except psycopg.OperationalError as error:
        if not re.search(r"option|startup parameter", str(error)):
            raise
        return _opened(dsn, extra)


# Tenants write what no other encoding holds: neither PGCLIENTENCODING nor the DSN chooses one.
ENCODING = "UTF8"


def _opened(dsn: str, extra: Mapping[str, Any]) -> Connection:
    return Connection.connect(
        dsn,
        autocommit=True,
        prepare_threshold=None,
        row_factory=dict_row,
        client_encoding=ENCODING,
        **extra,
    )


_IS_INSTALLED = (
    "select pg_catalog.count(*) = 2 as is_installed from pg_catalog.pg_namespace "
    "where nspname in ('lf_sql', 'lenses')"
)


def _look_round(conn: Connection) -> None:
    """One round trip: is the path ours, and is what stands in our place? Raises Refusal."""
    batch = (
        f"show search_path; begin isolation level repeatable read, read only; {PIN}; "
        f"{_IS_INSTALLED}; {preflight.query()}; commit"
    )
    cursor = conn.execute(batch.encode())
    answers = [cursor.fetchall()]
    while cursor.nextset():
        if cursor.description is not None:
            answers.append(cursor.fetchall())
    path, installed, strangers = answers
    conn.is_installed = installed[0]["is_installed"]
    conn.is_pinned = path[0]["search_path"].replace(" ", "") == PATH.replace(" ", "")
    preflight.refuse_strangers(strangers)


def ask_again(conn: Connection) -> None:
    """For a session held for long: is lf-sql still installed, and are the objects still ours?"""
    with conn.transaction():
        require_installed(conn)
        preflight.check(conn)


@contextmanager
def steady_transaction(conn: Connection) -> Iterator[Connection]:
    """A transaction in which no setting of the role or the database changes what SQL means."""
    with conn.transaction():
        conn.execute(f"select {_STEADY}".encode(), [json.dumps(dict(STEADY))])
        yield conn


def steady_script() -> str:
    """The same at the head of a transaction in a script."""
    call = _STEADY.replace("%s", literal(json.dumps(dict(STEADY))))
    return f"{PIN};\ndo $steady$\nbegin\n  perform {call};\nend\n$steady$;\n"


def facts(conn: Connection) -> dict[str, Any]:
    """The one row of sql/queries/facts.sql."""
    row = conn.execute(bundle.query("facts").encode()).fetchone()
    if row is None:
        raise LfSqlError("the server does not know the role that is connected")
    return row


def check_server(conn: Connection) -> None:
    """Refuse what lf-sql cannot run on at all; reads only the protocol's own parameters."""
    if conn.info.server_version < OLDEST_SERVER:
        found = conn.info.parameter_status("server_version") or str(conn.info.server_version)
        raise LfSqlError(
            f"PostgreSQL {found.split()[0]} is too old: lf-sql needs 15 or newer",
            "upgrade the server, or give the DSN of a newer one with --dsn",
        )


def require_installed(conn: Connection) -> None:
    """A clear line instead of `relation does not exist`.

    An object that was missing when the session checked the owners may be a stranger's by now.
    """
    row = conn.execute(_IS_INSTALLED.encode()).fetchone()
    if not conn.is_installed or not row or not row["is_installed"]:
        raise LfSqlError("lf-sql is not installed in this database", "lf-sql install")


def describe(error: psycopg.Error) -> tuple[str, str | None]:
    """A server's error as one line, and its DETAIL and HINT as the way out."""
    diag = error.diag
    if told := older.said(error):
        return told
    if not diag.message_primary:
        return " ".join(str(error).split()) or type(error).__name__, None
    rest = [part for part in (diag.message_detail, diag.message_hint) if part]
    if error.sqlstate == "25006" and not rest:
        rest = ["this server takes no writes: a standby, or set read-only; connect to the primary"]
    if error.sqlstate == "42501" and not rest:
        rest = ["connect as the role that installed, or as one that may become service_role"]
    lines = [" ".join(part.split()) for part in rest]
    return diag.message_primary, "; ".join(lines).replace(".; ", ". ") or None


def ident(name: str) -> str:
    """A name as it stands in SQL: quoted only where it must be."""
    return name if re.fullmatch(r"[a-z_][a-z0-9_]*", name) else '"' + name.replace('"', '""') + '"'
