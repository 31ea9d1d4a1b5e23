"""An executor as a command: its log as lines on stderr, its signals, its sums at the end."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager

import click

from lf_sql.cells import executors as fleet
from lf_sql.cli.worker import say
from lf_sql.durations import spelt
from lf_sql.errors import LfSqlError
from lf_sql.executor import Executor, Outcome


class Lines(logging.Handler):
    """A line for each record."""

    def emit(self, record: logging.LogRecord) -> None:
        try:
            say(record.getMessage())
        except Exception:  # whoever logs goes on
            self.handleError(record)


def lease_of(milliseconds: int) -> float:
    """--lease in seconds. UsageError: no executor may have such a lease."""
    if not 1000 <= milliseconds <= 86_400_000:
        raise click.UsageError(f"--lease must be 1s to 1d, not {spelt(milliseconds)}")
    return milliseconds / 1000


def carry_out(executor: Executor, once: bool) -> None:
    """Until it has ended; with `once`, exit code 1 where a run failed or was lost."""
    with _told([executor], once):
        executor.run()


def carry_out_all(executors: Mapping[str, Executor], once: bool) -> None:
    """The same for a cell each; with `once` the exit code is 1 where a cell was not reached."""
    with _told(executors.values(), once):
        failed = asyncio.run(fleet.serve(executors, once, say))
    if failed:
        raise LfSqlError(
            f"not all cells were worked for: {', '.join(failed)}", "lf-sql cells health"
        )


@contextmanager
def _told(executors: Collection[Executor], once: bool) -> Iterator[None]:
    counts: Counter[str] = Counter()

    def count(outcome: Outcome) -> None:
        counts[outcome.status] += 1

    for executor in executors:
        executor.on_end = count
    log = logging.getLogger("lf_sql.executor")
    log.setLevel(logging.INFO)
    log.propagate = False
    log.addHandler(Lines())
    yield
    rest = "".join(f", {counts[name]} {name}" for name in ("left", "lost") if counts[name])
    say(f"{counts['completed']} completed, {counts['failed']} failed{rest}")
    if once and (counts["failed"] or counts["lost"]):
        raise click.exceptions.Exit(1)
