"""A question before a change that cannot be undone, and --yes to skip it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import click

from lf_sql.plain import plain


def yes_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """--yes; --force is its older name."""
    return click.option("--yes", "-y", "--force", "yes", is_flag=True, help="Do not ask.")(command)


def ask(question: str, yes: bool) -> None:
    """Goes on if the answer is yes. Without a terminal --yes is required."""
    if yes:
        return
    if not sys.stdin.isatty():
        raise click.UsageError("there is no terminal to ask on: say --yes")
    click.confirm(plain(question), abort=True, err=True)
