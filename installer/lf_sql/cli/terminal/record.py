"""One row at length: a label and a value a line, nothing of it as JSON."""

from __future__ import annotations

import shutil
import sys
import textwrap
from collections.abc import Mapping, Sequence
from datetime import datetime, tzinfo
from typing import Any

import click
import yaml

from lf_sql.cli.terminal import words
from lf_sql.plain import plain

MOST = 12  # lines of a value: what is longer is there with --json


def show(rows: Mapping[str, Any], zone: tzinfo | None = None) -> None:
    """Labels aligned; what has no value is left out."""
    filled = {label: value for label, value in rows.items() if value not in (None, "", [], {})}
    width = max(map(len, filled), default=0)
    for label, value in filled.items():
        for number, line in enumerate(lines(value, width + 2, zone)):
            head = click.style(f"{label if not number else '':<{width}}", bold=True)
            click.echo(f"{head}  {line}".rstrip())


def heading(text: str) -> None:
    """Before a table that belongs to the row."""
    click.echo()
    click.echo(click.style(text, bold=True))


def lines(value: Any, indent: int, zone: tzinfo | None = None) -> list[str]:
    """A value as lines that fit beside its label."""
    if isinstance(value, datetime):
        return [words.when(value, zone)]
    room = max(shutil.get_terminal_size().columns - indent, 20)
    if isinstance(value, Mapping) or (
        isinstance(value, Sequence) and not isinstance(value, str | bytes)
    ):
        return data(value, room)
    return _beginning(_wrapped(text(value), room))


def text(value: Any) -> str:
    """A single value in words."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return plain(value)


def data(value: Any, room: int) -> list[str]:
    """What a tenant stored, as YAML, its lines folded; of much of it the beginning."""
    if isinstance(value, list) and all(isinstance(one, str | int | float) for one in value):
        return _beginning(_wrapped(", ".join(map(text, value)), room))
    dumped = yaml.safe_dump(
        value, allow_unicode=True, sort_keys=False, default_flow_style=False, width=sys.maxsize
    )
    found = []
    for line in map(plain, dumped.splitlines()):
        indent = " " * (len(line) - len(line.lstrip()) + 2)
        found += _wrapped(line, room, indent)
    return _beginning(found)


def _wrapped(line: str, room: int, indent: str = "") -> list[str]:
    """A line between its words, of which names with hyphens are some; `indent`: of what goes on."""
    found = textwrap.wrap(line, room, subsequent_indent=indent, break_on_hyphens=False)
    return found or [""]


def _beginning(found: list[str]) -> list[str]:
    if len(found) > MOST:
        return [*found[:MOST], f"... and {len(found) - MOST} lines more: --json has them"]
    return found
