"""What an executor's command may know of its connection: nothing that is not meant for it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from urllib.parse import quote

import psycopg
from psycopg import conninfo

from lf_sql.db import filled, resolve_dsn
from lf_sql.plain import plain_lines
from lf_sql.refusals import scrub

FOR_COMMANDS = "LF_SQL_COMMAND_DSN"
"""A connection that is meant for the commands: they find it in DATABASE_URL."""

WEBHOOK_SECRET = "LF_SQL_WEBHOOK_SECRET"
"""What signs requests to endpoints."""

# Where libpq and we look for a password, or a file with one.
SECRETS = {
    "DATABASE_URL",
    "LF_SQL_DIRECTORY",
    "LF_SQL_DSN",
    FOR_COMMANDS,
    WEBHOOK_SECRET,
    "PGPASSWORD",
    "PGPASSFILE",
    "PGSERVICE",
    "PGSERVICEFILE",
    "PGSYSCONFDIR",
    "PGSSLKEY",
    "PGSSLCERT",
    "PGSSLPASSWORD",
    "PGOAUTHCLIENTSECRET",
}


def given(dsn: str | None) -> dict[str, object]:
    """The parts of the connection string; none where it cannot be read."""
    try:
        return dict(conninfo.conninfo_to_dict(resolve_dsn(dsn)))
    except (psycopg.ProgrammingError, UnicodeEncodeError):
        return {}


def for_command(dsn: str | None, environ: Mapping[str, str] | None = None) -> dict[str, str]:
    """The environment without the connection's secrets, by whatever name they stand there.

    This is no security boundary: a command of the same system user can read the same files.
    WrongUsage where the connection that is meant for commands has blanks alone.
    """
    environ = os.environ if environ is None else environ
    password = str(given(dsn).get("password") or environ.get("PGPASSWORD") or "")
    hidden = {password, quote(password), quote(password, safe=""), resolve_dsn(dsn)} - {""}
    passed = {
        name: value
        for name, value in environ.items()
        if name not in SECRETS and not any(secret in value for secret in hidden)
    }
    if meant := filled(environ.get(FOR_COMMANDS), FOR_COMMANDS):
        passed["DATABASE_URL"] = meant
    return passed


def clean(text: str, dsn: str | None) -> str:
    """What a command printed, for the run's owner to read: no control characters, no password."""
    return plain_lines(scrub(text, given(dsn)))
