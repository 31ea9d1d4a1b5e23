"""An executor as a command: its log as lines on stderr, its signals, its sums at the end."""

from __future__ import annotations

import logging
from collections import Counter

import click

from lf_sql.cli.worker import say
from lf_sql.executor import Executor, Outcome


class Lines(logging.Handler):
    """A line for each record."""

    def emit(self, record: logging.LogRecord) -> None:
        say(record.getMessage())


def carry_out(executor: Executor, once: bool) -> None:
    """Until it has ended; with `once`, exit code 1 where a run failed or was lost."""
    counts: Counter[str] = Counter()

    def count(outcome: Outcome) -> None:
        counts[outcome.status] += 1

    executor.on_end = count
    log = logging.getLogger("lf_sql.executor")
    log.setLevel(logging.INFO)
    log.propagate = False
    log.addHandler(Lines())
    executor.run()
    rest = "".join(f", {counts[name]} {name}" for name in ("left", "lost") if counts[name])
    say(f"{counts['completed']} completed, {counts['failed']} failed{rest}")
    if once and (counts["failed"] or counts["lost"]):
        raise click.exceptions.Exit(1)
