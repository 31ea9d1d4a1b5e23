"""Sentences about something: its name, then what is said, folded between words below it."""

from __future__ import annotations

import shutil
import textwrap

import click

from lf_sql.plain import plain

INDENT = 4


def show(head: str, text: str | None, colour: str | None = None) -> None:
    """The name on a line of its own; `text` at length, as wide as the terminal is."""
    click.echo(click.style(plain(head), fg=colour, bold=True))
    for line in folded(text or "", shutil.get_terminal_size().columns, INDENT):
        click.echo(line)


def folded(text: str, columns: int, indent: int) -> list[str]:
    """Lines that begin `indent` blanks in; commands and addresses stay in one piece."""
    blanks = " " * indent
    return textwrap.wrap(
        plain(text),
        columns,
        initial_indent=blanks,
        subsequent_indent=blanks,
        break_long_words=False,
        break_on_hyphens=False,
    )
