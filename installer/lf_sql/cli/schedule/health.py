"""lf-sql schedule health: is anything dispatched, and which schedules are not fine."""

from __future__ import annotations

import shutil
import sys
import textwrap

import click

from lf_sql import health, instants
from lf_sql.cli.context import acting, connect_cron, cron_option, emit, options
from lf_sql.cli.session import installed
from lf_sql.cli.terminal import words
from lf_sql.cli.terminal.watch import watched
from lf_sql.plain import plain

COLOURS = {"ok": "green", "warn": "yellow", "bad": "red"}


@click.command(
    "health",
    epilog="\b\nExamples:\n  lf-sql schedule health\n  lf-sql schedule health --server   "
    "# a container's check",
)
@click.option("--server", is_flag=True, help="Only the machinery, no schedules.")
@cron_option
@watched
def command(server: bool, cron_dsn: str | None) -> None:
    """Show what is wrong, and what to do about it; exit 1 if anything is.

    The machinery first (worker, pg_cron, backlog, last tick, stuck runs …), then every schedule
    that is not fine. With --as: this tenant's schedules.
    """
    with installed() as conn, connect_cron(cron_dsn) as cron:
        if options().as_user:
            with acting(conn):
                lines = health.tenant(conn)
        else:
            lines = health.everything(conn, has_schedules=not server, cron=cron)
    if options().as_json:
        emit([line.as_row() for line in lines])
    else:
        for line in lines:
            echo(line)
    if any(line.state == "bad" for line in lines):
        raise click.exceptions.Exit(1)


def echo(line: health.Line) -> None:
    """`worker: ok` and what there is to say; tab-separated in a pipe."""
    if not sys.stdout.isatty():
        click.echo("\t".join(map(plain, [line.head, line.detail, line.advice or ""])))
        return
    show(line, shutil.get_terminal_size().columns)
    command, _, comment = plain(line.advice or "").partition(" # ")
    if command:  # in one piece, however long: it is there to be copied
        click.echo(f"    -> {command}")
    if comment:
        click.echo(_folded(f"       # {comment}", shutil.get_terminal_size().columns, 9))


def show(line: health.Line, columns: int) -> None:
    """The finding alone, folded between words, its instants on the viewer's clock.

    A schedule is called by its name, with which the detail begins; the advice has its id.
    """
    head = plain(line.head if line.schedule_id is None else f"{line.label}:")
    gap = "  " if line.schedule_id is None else " "
    text = _folded(f"{head}{gap}{plain(_local(line.detail))}", columns, 4)
    click.echo(click.style(head, fg=COLOURS[line.state]) + text.removeprefix(head))


def _local(text: str) -> str:
    return instants.in_text(text, words.clock)


def _folded(text: str, columns: int, indent: int) -> str:
    return textwrap.fill(
        text,
        columns,
        subsequent_indent=" " * indent,
        break_long_words=False,
        break_on_hyphens=False,
    )
