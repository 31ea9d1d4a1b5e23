"""--watch: a command that redraws itself every few seconds, until it is interrupted."""

from __future__ import annotations

import functools
import io
import sys
import threading
from collections.abc import Callable
from typing import Any

import click
import psycopg

from lf_sql.errors import CannotConnect, LfSqlError
from lf_sql.plain import plain

HOME = "\x1b[H"
CLEAR_LINE = "\x1b[K"
CLEAR_BELOW = "\x1b[J"


class Screen(io.StringIO):
    """What is written while the old picture is still shown."""

    def isatty(self) -> bool:
        return True

    def painted(self) -> str:
        """The new picture over the old one, no taller than the terminal."""
        import shutil

        lines = self.getvalue().splitlines()[: max(shutil.get_terminal_size().lines - 1, 1)]
        return HOME + "".join(f"{line}{CLEAR_LINE}\n" for line in lines) + CLEAR_BELOW


def watched(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command --watch [SECONDS]."""

    @functools.wraps(command)
    def run(*args: Any, watch: float | None, **named: Any) -> Any:
        if watch is None:
            return command(*args, **named)
        if not sys.stdout.isatty():
            raise click.UsageError("--watch draws on a terminal, and this is none")
        click.clear()
        try:
            while True:
                _draw(lambda: command(*args, **named), watch)
                threading.Event().wait(watch)
        except KeyboardInterrupt:
            return None

    return click.option(
        "--watch",
        type=click.FloatRange(0.5, 3600),
        is_flag=False,
        flag_value="2",
        metavar="[SECONDS]",
        help="Redraw every 2 seconds, or every so many as are given.",
    )(run)


def _draw(command: Callable[[], Any], seconds: float) -> None:
    """Once. A temporary error (a server that restarts) is reported and does not end the watch."""
    terminal, screen = sys.stdout, Screen()
    sys.stdout = screen
    try:
        click.echo(click.style(f"every {seconds:g} s, Ctrl-C ends\n", dim=True))
        command()
    except click.exceptions.Exit:
        pass
    except (CannotConnect, psycopg.OperationalError) as error:
        message = error.message if isinstance(error, LfSqlError) else " ".join(str(error).split())
        click.echo(click.style("error: ", fg="red", bold=True) + plain(message))
    finally:
        sys.stdout = terminal
    terminal.write(screen.painted())
    terminal.flush()
