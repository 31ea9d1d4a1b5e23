"""Tables that fit the terminal: a fixed set of columns, dropped by priority, cut or folded."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from lf_sql.cli.terminal import words
from lf_sql.plain import plain

Row = Mapping[str, Any]
GAP = 2  # blanks between columns
NONE = "-"
NAMES = {"name", "title", "handle"}  # what a command takes instead of an id that is long
UNLIMITED = 10_000
LONGEST_WORD = 24  # what is longer is folded inside: a name may have 200 characters
STYLES = {
    **dict.fromkeys(("completed", "enabled", "active", "dispatch", "ok"), "green"),
    **dict.fromkeys(("failed", "timed_out", "dispatch_failed", "validation_failed"), "red"),
    **dict.fromkeys(("condition_failed", "budget_exceeded", "error"), "red"),
    **dict.fromkeys(("pending_approval", "paused", "skip", "defer", "warning"), "yellow"),
    **dict.fromkeys(("cancelled", "disabled", "finished"), "bright_black"),
    "running": "cyan",
}


@dataclass(frozen=True)
class Column:
    """A column of a command's table.

    `cell` makes its text from a row, or names the key; `short` makes the one for want of room,
    `least` is how far it may be cut, where neither is given it never is. Of columns the one with
    the highest `rank` goes first when the terminal is too narrow. `most`: how wide it gets before
    all others have what they want. `is_wide`: only with -o wide. `short_least`: how far `short` may
    be cut. `is_folded`: for want of room it goes on below, between its words, and is never cut.
    """

    title: str
    cell: str | Callable[[Row], str | None]
    rank: int = 0
    least: int | None = None
    most: int = 60
    short: Callable[[Row], str | None] | None = None
    is_wide: bool = False
    short_least: int | None = None
    is_folded: bool = False


@dataclass
class _Fitted:
    """A column with its cells as they will stand, and its width."""

    column: Column
    cells: list[str]
    width: int
    shorter: list[str] | None = None
    full: int = 0


def show(rows: Sequence[Row], columns: Sequence[Column], is_wide: bool = False) -> None:
    """Draw them, as wide as the terminal is; with `is_wide` every column at full length."""
    from rich.console import Console
    from rich.style import Style
    from rich.table import Table
    from rich.text import Text

    width = None if sys.stdout.isatty() else 120
    console = Console(highlight=False, markup=False, emoji=False, width=width)
    room = UNLIMITED if is_wide else console.width
    columns = [column for column in columns if is_wide or not column.is_wide]
    fitted = fit([_measured(column, rows, is_wide) for column in columns], room)
    drawn = Table(box=None, pad_edge=False, padding=(0, GAP, 0, 0), header_style="bold")
    for one in fitted:
        drawn.add_column(
            one.column.title,
            width=one.width,
            no_wrap=not one.column.is_folded,
            overflow="fold" if one.column.is_folded else "ellipsis",
        )
    for number in range(len(rows)):
        texts = [one.cells[number] for one in fitted]
        drawn.add_row(
            *(
                Text(text, Style(color=STYLES.get(text.split(",")[0])) if text else "")
                for text in texts
            )
        )
    if is_wide:
        console.width = sum(one.width + GAP for one in fitted)
    console.print(drawn, soft_wrap=False, crop=False)


def fit(columns: Sequence[_Fitted], room: int) -> list[_Fitted]:
    """What there is room for: columns go first, then long cells give way to short ones.

    What is left is for cells that would be cut, then for long cells by rank, then for what is
    wider than most.
    """
    kept = list(columns)
    while len(kept) > 1 and sum(_least(one) + GAP for one in kept) - GAP > room:
        kept.remove(max(reversed(kept), key=lambda one: one.column.rank))
    spare = room - sum(_least(one) + GAP for one in kept) + GAP
    wanted = {id(one): one.width for one in kept}
    for one in kept:
        one.width = _least(one)
    single = [one for one in kept if not one.shorter]
    spare = _share(spare, [(one, wanted[id(one)]) for one in single])
    for one in sorted(kept, key=lambda one: one.column.rank):
        if one.shorter and wanted[id(one)] - one.width > spare:
            one.cells = one.shorter
        elif one.shorter:
            spare -= wanted[id(one)] - one.width
            one.width = wanted[id(one)]
    shortened = [one for one in kept if one.cells is one.shorter]
    spare = _share(spare, [(one, _width(one.column, one.cells)) for one in shortened])
    _share(spare, [(one, one.full) for one in single])
    return kept


def _share(spare: int, wishes: Sequence[tuple[_Fitted, int]]) -> int:
    """Widen them up to what each wishes, a character each in turn; what is left of the room."""
    while spare > 0 and (cut := [one for one, wish in wishes if one.width < wish]):
        for one in cut[:spare]:
            one.width += 1
        spare -= len(cut[:spare])
    return spare


def of_names(names: Sequence[str], rows: Sequence[Row]) -> list[Column]:
    """Columns of a command that has no view of its own, in the order of their importance."""
    ids = {row[name] for row in rows for name in names if isinstance(row.get(name), UUID)}
    digits = words.digits_needed(ids)

    def cell(name: str) -> Callable[[Row], str]:
        return lambda row: text_of(row.get(name), digits)

    def clock(name: str) -> Callable[[Row], str | None] | None:
        """The short form of instants; ids and they are never cut."""
        if not any(isinstance(row.get(name), datetime) for row in rows):
            return None
        return lambda row: words.clock(row[name]) if row.get(name) else None

    is_named = digits > 13 and not NAMES.isdisjoint(names)
    return [
        Column(
            name.removesuffix("_at").replace("_", " ").upper(),
            cell(name),
            rank,
            12,
            short=clock(name),
            is_wide=is_named and name == "id",
        )
        for rank, name in enumerate(names)
    ]


def text_of(value: Any, digits: int = 36) -> str:
    """A value in a cell."""
    match value:
        case None | "":
            return NONE
        case bool():
            return "yes" if value else "no"
        case UUID():
            return str(value)[:digits]
        case datetime():
            return words.when(value)
        case dict():
            return inline(value)
        case list():
            return ", ".join(text_of(one, digits) for one in value)
    return plain(value)


def inline(value: Mapping[str, Any]) -> str:
    """An object on one line: `attempt 1, worker w`."""
    return ", ".join(
        f"{plain(key)} {text_of(one)}" for key, one in value.items() if one is not None
    )


def short_ids(rows: Iterable[Row], *names: str) -> Callable[[str], Callable[[Row], str]]:
    """Cells of ids, as long as it takes to tell those of `names` apart."""
    digits = words.digits_needed(
        row[name] for row in rows for name in names if isinstance(row.get(name), UUID)
    )
    return lambda name: lambda row: text_of(row.get(name), digits)


def _measured(column: Column, rows: Sequence[Row], is_wide: bool) -> _Fitted:
    cells = _cells(column.cell, rows)
    width = _width(column, cells)
    shorter = _cells(column.short, rows) if column.short else None
    return _Fitted(column, cells, width if is_wide else min(width, column.most), shorter, width)


def _cells(cell: str | Callable[[Row], str | None], rows: Sequence[Row]) -> list[str]:
    if isinstance(cell, str):
        return [text_of(row.get(cell)) for row in rows]
    return [plain(cell(row) or NONE) for row in rows]


def _width(column: Column, cells: Sequence[str]) -> int:
    return max(map(_length, [column.title, *cells]))


def _least(one: _Fitted) -> int:
    if one.shorter:
        return min(one.width, _width(one.column, one.shorter), one.column.short_least or UNLIMITED)
    if one.column.is_folded:
        words = (word for cell in one.cells for word in cell.split())
        longest = min(max(map(_length, words), default=0), LONGEST_WORD)
        return min(one.width, max(longest, one.column.least or 0))
    return one.width if one.column.least is None else min(one.width, one.column.least)


def _length(text: str) -> int:
    from rich.cells import cell_len

    return cell_len(text)
