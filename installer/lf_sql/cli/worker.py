"""lf-sql worker: the driver where pg_cron is missing."""

from __future__ import annotations

import os
import signal
from datetime import UTC, datetime

import click

from lf_sql import former
from lf_sql.cli.context import options
from lf_sql.cli.terminal import prose
from lf_sql.plain import plain
from lf_sql.stopping import stop_on
from lf_sql.worker import Settings, Worker

EPILOG = """\b
Environment:
  TICK_MS               milliseconds from tick to tick (1000)
  LOOKAHEAD_MS          slots within it fire at their own second (60000)
  MAX_CATCHUP_PER_TICK  slots of one schedule a tick (the database's setting)
\b
Examples:
  lf-sql worker
  TICK_MS=500 lf-sql worker --dsn postgresql://postgres@db.example.org/app
"""


@click.command(epilog=EPILOG)
def command() -> None:
    """Drive the dispatcher without pg_cron.

    Start as many as you like: one leads, the others stand by. SIGTERM ends it cleanly
    after the tick that is under way. Beside pg_cron it is safe, and slots fire at their own second.
    """
    try:
        settings = Settings.from_environment(os.environ)
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    for line in former.lines(os.environ):
        say(line)
    stop = stop_on(signal.SIGTERM, signal.SIGINT)
    Worker(options().dsn, settings, stop, say).run()


def say(line: str) -> None:
    """A line of the log, on stderr; nothing where it cannot be written."""
    prose.on_stderr(f"{datetime.now(UTC):%Y-%m-%d %H:%M:%S} {plain(line)}")
