"""The server's errors about values, in a command's words: a column is called by its option."""

from __future__ import annotations

import re

import click
import psycopg

from lf_sql import db
from lf_sql.cli.params import Duration
from lf_sql.durations import spelt

# 300000 (5 minutes)
_BOTH = re.compile(r"\d+ \(([^)]+)\)")
_UNIT = re.compile(r",? (in )?milliseconds,?")


def described(error: psycopg.Error, command: click.Command | None) -> tuple[str, str | None]:
    """As db.describe; what `command` has an option for is called by that option."""
    message, hint = db.describe(error)
    for param in command.params if command else []:
        option = next((name for name in param.opts if name.startswith("--")), None)
        if not option or not param.name:
            continue
        is_duration = isinstance(param.type, Duration)
        is_meant = is_duration and error.diag.column_name == param.name
        message = _named(message, param.name, option, is_duration)
        if hint:
            hint = _named(hint, param.name, option, is_duration)
            hint = _UNIT.sub("", _BOTH.sub(r"\1", hint)) if is_meant else hint
    return message, hint


def _named(text: str, name: str, option: str, is_duration: bool) -> str:
    """The text with the option for a parameter, and for a column whose name is no plain word."""
    column = f"(?:p_)?{name}" if "_" in name else f"p_{name}"
    text = re.sub(rf"(?<![\w.\"-]){column}(?![\w\"]|\.\w)", option, text)
    if is_duration:
        length = rf"(?<={re.escape(option)} )\d+(?!\w)"
        text = re.sub(length, lambda found: spelt(int(found[0])).replace(" ", ""), text)
    return text
