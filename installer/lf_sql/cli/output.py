"""Options of how a list is printed."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import click


def output_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a list --ids and -o wide, as arguments `ids` and `is_wide`."""

    @functools.wraps(command)
    def run(*args: Any, output: str | None, **named: Any) -> Any:
        return command(*args, is_wide=output == "wide", **named)

    run = click.option(
        "-o", "--output", type=click.Choice(["wide"]), help="wide: every column, at full length."
    )(run)
    return click.option("--ids", is_flag=True, help="Only ids, one on each line.")(run)
