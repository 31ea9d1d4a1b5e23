"""Which cell a command is for."""

from __future__ import annotations

import os
from uuid import UUID

import click
from click.shell_completion import CompletionItem

from lf_sql.cells import directory as directories
from lf_sql.cells.directory import Cell
from lf_sql.errors import LfSqlError


def dsn(directory: str | None, cell: str | None, user: str | None) -> str | None:
    """The address of that cell, or of the cell of that user; None where there is no directory."""
    address = directories.given(directory)
    if address is None and cell is not None:
        raise click.UsageError(f"--cell wants a directory: set {directories.VARIABLE} to its DSN")
    if address is None or (cell is None and user is None):
        return None
    with directories.opened(address) as found:
        if cell is not None:
            return found.cell(cell).conninfo
        try:
            user_id = UUID(user)
        except ValueError:
            raise click.UsageError(f"--as wants the uuid of a user, not {user!r}") from None
        return found.cell_of(user_id).conninfo


def cells_of(directory: str | None, dsn: str | None, cell: str | None) -> list[Cell]:
    """Every cell, for commands that work for all of them."""
    if dsn or cell:
        raise click.UsageError("--cells means all of them: give no --dsn and no --cell")
    address = directories.given(directory)
    if address is None:
        raise click.UsageError(f"--cells wants a directory: set {directories.VARIABLE} to its DSN")
    with directories.opened(address) as found:
        cells = found.cells()
    if not cells:
        raise LfSqlError("the directory has no cells", "lf-sql cells add NAME --dsn DSN")
    return cells


def complete(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Shell completion of cells' names; silent where the directory does not answer."""
    os.environ.setdefault("PGCONNECT_TIMEOUT", "2")  # a user waits for the completion
    try:
        address = directories.given(getattr(ctx.obj, "directory", None))
        if address is None:
            return []
        with directories.opened(address) as found:
            cells = found.cells()
    except Exception:  # a shell that completes a word cannot show an error
        return []
    return [
        CompletionItem(cell.name, help="open" if cell.is_open else "closed")
        for cell in cells
        if cell.name.startswith(incomplete)
    ]
