"""What the commands about cells share: the directory, the cells asked for, what is told."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from uuid import UUID

import click

from lf_sql.cells import directory as directories
from lf_sql.cells.directory import Cell, Directory
from lf_sql.cli.context import command_name, options
from lf_sql.cli.params import Filled
from lf_sql.cli.progress import Progress, progress

WAIT = click.option(
    "--wait",
    type=click.FloatRange(min=0),
    default=60.0,
    show_default=True,
    help="Seconds to wait for runs that are running, and for a standby.",
)


def directory_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """--directory, which the shared options remember."""

    def remember(ctx: click.Context, param: click.Parameter, value: str | None) -> None:
        if value:
            ctx.ensure_object(type(options())).directory = value

    return click.option(
        "--directory",
        type=Filled(),
        envvar=directories.VARIABLE,
        metavar="DSN",
        expose_value=False,
        callback=remember,
        help=f"The database of the directory [{directories.VARIABLE}].",
    )(command)


def address() -> str:
    """Where the directory is."""
    found = directories.given(options().directory)
    if found is None:
        raise click.UsageError(
            f"say where the directory is: --directory DSN, or {directories.VARIABLE}"
        )
    return found


@contextmanager
def fleet() -> Iterator[tuple[Directory, Progress]]:
    """The directory; long work within it shows its progress."""
    with directories.opened(address()) as directory, progress(command_name()) as work:
        yield directory, work


def asked(directory: Directory) -> list[Cell]:
    """The cell of --cell, else all of them."""
    return directory.asked(options().cell)


def user(value: str) -> UUID:
    """A tenant as people name it on these commands."""
    try:
        return UUID(value)
    except ValueError:
        raise click.UsageError(
            f"{value!r} is no user id: write the sub of the tenant's JWT"
        ) from None
