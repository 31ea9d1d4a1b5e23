"""lf-sql cells move, split, resume: tenants from cell to cell."""

from __future__ import annotations

from typing import Any

import click

from lf_sql.cells import journal, move, resume, split
from lf_sql.cells.journal import Entry
from lf_sql.cli import where
from lf_sql.cli.cells.common import WAIT, directory_option, fleet, user
from lf_sql.cli.context import emit, note
from lf_sql.cli.params import Filled
from lf_sql.errors import LfSqlError

COLUMNS = ["id", "kind", "from_cell", "to_cell", "tenants", "outcome"]


@click.command(
    "move",
    epilog="\b\nExample:\n  lf-sql cells move USER_UUID --to berlin",
)
@click.argument("user_ids", metavar="USER_UUID...", nargs=-1, required=True)
@click.option(
    "--to",
    metavar="CELL",
    required=True,
    help="The cell to move into.",
    shell_complete=where.complete,
)
@WAIT
@directory_option
def move_(user_ids: tuple[str, ...], to: str, wait: float) -> None:
    """Move tenants to another cell, with all that they have; each pauses for a second or so.

    Slots that fall into the move fire after it. Runs that are running must end before.
    """
    users = list(dict.fromkeys(user(one) for one in user_ids))
    rows: list[dict[str, Any]] = []
    with fleet() as (directory, work):
        target = directory.cell(to)
        for one in users:
            entry = move.move(directory, one, target, wait, work.say)
            if entry is None:
                note(f"user {one} is in cell {to} already")
            else:
                rows.append(_row(entry, "done"))
    emit(rows, COLUMNS, empty="nothing to move")


@click.command(
    "split",
    epilog="\b\nExample:\n  lf-sql cells split berlin --to berlin2 \\\n"
    "    --standby postgresql://postgres@standby.example.org/app",
)
@click.argument("cell", shell_complete=where.complete)
@click.option(
    "--standby",
    type=Filled(),
    metavar="DSN",
    required=True,
    help="A streaming standby of the cell.",
)
@click.option("--to", metavar="NAME", required=True, help="The name of the new cell.")
@click.option(
    "--user",
    "user_ids",
    metavar="USER_UUID",
    multiple=True,
    help="A tenant to move; may be repeated. Default: half of the tenants.",
)
@WAIT
@directory_option
def split_(cell: str, standby: str, to: str, user_ids: tuple[str, ...], wait: float) -> None:
    """Promote a standby of a cell, and make it a cell with half of the tenants.

    The old cell dispatches nothing for a second or so; slots of that time fire after it.
    """
    users = [user(one) for one in user_ids]
    with fleet() as (directory, work):
        entry = split.split(directory, directory.cell(cell), standby, to, users, wait, work.say)
    emit([_row(entry, "done")], COLUMNS)
    note(
        f"start what drives the new cell: lf-sql install --cell {to} for pg_cron, or "
        f"lf-sql worker --cell {to}; and its executors"
    )


@click.command(
    "resume",
    epilog="\b\nExamples:\n  lf-sql cells resume\n  lf-sql cells resume 7 --take-back",
)
@click.argument("number", type=int, required=False)
@click.option(
    "--take-back", is_flag=True, help="Let the tenants be at work where they were, if none arrived."
)
@WAIT
@directory_option
def resume_(number: int | None, take_back: bool, wait: float) -> None:
    """End moves and splits that were cut off: all of them, or the one of this number."""
    rows: list[dict[str, Any]] = []
    failed: list[LfSqlError] = []
    with fleet() as (directory, work):
        entries = journal.unfinished(directory)
        if number is not None:
            entries = [entry for entry in entries if entry.id == number]
            if not entries:
                raise LfSqlError(
                    f"nothing of the number {number} is unfinished", "lf-sql cells health"
                )
        for entry in entries:
            try:
                if take_back:
                    resume.take_back(directory, entry, work.say)
                else:
                    resume.resume(directory, entry, wait, work.say)
            except LfSqlError as error:
                failed.append(error)
            else:
                rows.append(_row(entry, "taken back" if take_back else "done"))
    emit(rows, COLUMNS, empty="nothing was cut off")
    if failed:
        for other in failed[:-1]:
            note(f"{other.message}: {other.hint}" if other.hint else other.message)
        raise failed[-1]


def _row(entry: Entry, outcome: str) -> dict[str, Any]:
    return {
        "id": entry.id,
        "kind": entry.kind,
        "from_cell": entry.from_cell,
        "to_cell": entry.to_cell,
        "tenants": len(entry.lenser_ids),
        "outcome": outcome,
    }


COMMANDS = (move_, split_, resume_)
