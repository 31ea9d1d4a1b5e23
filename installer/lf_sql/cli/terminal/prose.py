"""Sentences for people, folded between words: below a name, or beside a word such as `error:`."""

from __future__ import annotations

import os
import shutil
import sys
import textwrap
from collections.abc import Iterable
from contextlib import suppress

import click

from lf_sql.plain import plain

INDENT = 4


def show(head: str, text: str | None, colour: str | None = None) -> None:
    """The name on a line of its own; `text` at length, as wide as the terminal is."""
    click.echo(click.style(plain(head), fg=colour, bold=True))
    for line in folded(text or "", shutil.get_terminal_size().columns, INDENT):
        click.echo(line)


def aside(text: str, head: str = "", colour: str | None = None, bold: bool = False) -> None:
    """On stderr: `head`, and the text beside it. In a file or a pipe it stays one line."""
    head += " " * (len(text) - len(text.lstrip(" ")))
    lines = [plain(text.lstrip(" "))]
    if sys.stderr.isatty():
        lines = beside(lines[0], _columns_of_stderr(), len(head))
    on_stderr(click.style(head, fg=colour, bold=bold) + "\n".join(lines))


def on_stderr(text: str) -> None:
    """As it stands. Where it cannot be written the work goes on, and the exit code stays."""
    with suppress(OSError, ValueError):  # full, without a reader, or closed
        click.echo(text, err=True)


def said(text: str) -> None:
    """A sentence on standard output; on a terminal folded, what goes on four blanks in."""
    lines = [plain(text)]
    if sys.stdout.isatty():
        first, *more = beside(lines[0], shutil.get_terminal_size().columns, 0)
        rest = folded(" ".join(more), shutil.get_terminal_size().columns, INDENT)
        lines = [first, *rest]
    click.echo("\n".join(lines))


def labelled(rows: Iterable[tuple[str, str]]) -> None:
    """A label and a text a line, all texts beginning at one place; folded on a terminal."""
    rows = list(rows)
    width = max((len(label) for label, _ in rows), default=0)
    for label, text in rows:
        head = f"  {label:<{width}}  "
        lines = [plain(text)]
        if sys.stdout.isatty():
            lines = beside(lines[0], shutil.get_terminal_size().columns, len(head))
        click.echo(head + "\n".join(lines))


def beside(text: str, columns: int, indent: int) -> list[str]:
    """Folded, the first line without the indent, since something stands there."""
    lines = folded(text, columns, indent) or [""]
    return [lines[0][indent:], *lines[1:]]


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


def _columns_of_stderr() -> int:
    """Standard output may be elsewhere."""
    try:
        return int(os.environ.get("COLUMNS", 0)) or os.get_terminal_size(2).columns or 80
    except (ValueError, OSError):
        return 80
