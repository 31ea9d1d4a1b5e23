"""A question before what cannot be taken back, and --yes instead of its answer."""

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
    """Goes on where the answer is yes. Where nobody can be asked, --yes is wanted."""
    if yes:
        return
    if not sys.stdin.isatty():
        raise click.UsageError("nobody is there to ask: say --yes")
    click.confirm(plain(question), abort=True, err=True)
