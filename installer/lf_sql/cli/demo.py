"""lf-sql demo: watch schedules fire on a server that is gone afterwards."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import click

from lf_sql import db, demo, embedded
from lf_sql.cli.context import table
from lf_sql.cli.progress import progress


@click.command(epilog="\b\nExamples:\n  lf-sql demo\n  lf-sql demo --keep")
@click.option("--keep", is_flag=True, help="Stay up until Ctrl-C, and print the DSN.")
def command(keep: bool) -> None:
    """Start a server of its own, install, play one day, then wait for a real minute."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that the server is stopped
    build = embedded.find_build()
    say(f"PostgreSQL {build.major} of {build.origin}")
    with started(build) as server, db.connect(server.dsn()) as conn:
        show = demo.Demo(conn)
        with progress("  installing") as work:
            outcome, driver = show.install(work.say)
        say(f"lf-sql installed in {outcome.seconds:.1f} s, driver: {driver_of(driver.registered)}")

        say("\nFive schedules of one tenant (times are UTC):\n")
        show_rows(show.make_schedules())

        say(f"\nPlaying {show.day:%A, %d %B %Y} (a holiday in the calendar of the demo) ...")
        with progress("  the day", length=24 * 60) as work:
            ticks, seconds = show.play(work.step)
        say(f"{ticks} ticks, one a minute, in {seconds:.1f} s:\n")
        show_rows(show.outcomes())

        say("\nNow for real: a schedule for every minute; waiting for the next one ...")
        with progress("  waiting"):
            run = show.real_minute(by_pg_cron=bool(driver.registered))
        late = (run["dispatched_at"] - run["slot"]).total_seconds() * 1000
        say(
            f"{run['slot']:%H:%M:%S} UTC: run {run['run']} is {run['status']}, "
            f"dispatched by {run['driver']} after {late:.0f} ms"
        )
        if keep:
            say(f"\nStaying up until Ctrl-C:\n  export LF_SQL_DSN='{server.dsn()}'")
            say('  lf-sql schedule list\n  psql "$LF_SQL_DSN"')
            wait_for_the_end()
    say("\nThe server is stopped and gone.")


@contextmanager
def started(build: embedded.Build) -> Iterator[embedded.Server]:
    """The server, up; it ends with the block."""
    server = embedded.Server(build, demo.settings(build))
    with ExitStack() as stack:
        with progress("  starting the server"):
            stack.enter_context(server)
        yield server


def driver_of(registered: list[str]) -> str:
    return "pg_cron" if registered else "a loop of ours (this server has no pg_cron)"


def wait_for_the_end() -> None:
    try:
        threading.Event().wait()
    except KeyboardInterrupt:
        return


def show_rows(rows: list[dict[str, Any]]) -> None:
    table(rows, list(rows[0]))
    sys.stdout.flush()


def say(line: str) -> None:
    click.echo(line)
    sys.stdout.flush()
