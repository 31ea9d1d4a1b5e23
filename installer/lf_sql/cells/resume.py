"""Ends what was cut off: forward, or back where nobody has arrived yet."""

from __future__ import annotations

from lf_sql.cells import move, split
from lf_sql.cells.directory import Directory
from lf_sql.cells.journal import Entry
from lf_sql.cells.move import Say


def resume(directory: Directory, entry: Entry, wait: float, say: Say) -> None:
    """Go on from where the cells say that it stands."""
    work = move.carry_on if entry.kind == "move" else split.carry_on
    work(directory, entry, wait, say)


def take_back(directory: Directory, entry: Entry, say: Say) -> None:
    """Let the tenants be at work where they were."""
    work = move.take_back if entry.kind == "move" else split.take_back
    work(directory, entry, say)
