"""The table of figures: a row a measurement, as Markdown, with the machine and the day."""

from __future__ import annotations

import os
import platform
import statistics
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter

RESULTS = Path(__file__).with_name("RESULTS.md")
SOAK = "<!-- Written by `make soak`. -->\n"
COLUMNS = ("work", "measured", "reference", "ratio", "must reach", "")


@dataclass(frozen=True)
class Row:
    """One line. `ok` None: shown for information, nothing is promised."""

    work: str
    measured: str
    reference: str = ""
    ratio: str = ""
    must: str = ""
    ok: bool | None = None

    @property
    def cells(self) -> tuple[str, ...]:
        verdict = {None: "", True: "yes", False: "**NO**"}[self.ok]
        return (self.work, self.measured, self.reference, self.ratio, self.must, verdict)


def time_of(work: Callable[[], object]) -> float:
    """Seconds that one call takes."""
    started = perf_counter()
    work()
    return perf_counter() - started


def medians(rounds: int, *works: Callable[[], object]) -> list[float]:
    """Median seconds of each, taken in turn (ABAB), so that a busy moment hits all alike."""
    taken = [[time_of(work) for work in works] for _ in range(rounds)]
    return [statistics.median(column) for column in zip(*taken, strict=True)]


def quantile(values: Sequence[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(int(len(ordered) * share), len(ordered) - 1)]


def ms(seconds: float) -> str:
    value = seconds * 1000
    return f"{value:.2f} ms" if value < 10 else f"{value:.0f} ms"


def machine() -> str:
    model = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        names = [line.split(":", 1)[1].strip() for line in info.read_text().splitlines()
                 if line.startswith("model name")]  # fmt: skip
        model = names[0] if names else model
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return f"{os.cpu_count()} x {model}, {memory:.0f} GB, {platform.system()} {platform.release()}"


def markdown(rows: Iterable[Row]) -> str:
    return lines_of([COLUMNS, *(row.cells for row in rows)])


def lines_of(table: Sequence[Sequence[str]]) -> str:
    """A table in Markdown, its first line the names."""
    widths = [max(len(line[i]) for line in table) for i in range(len(table[0]))]
    lines = [
        "| "
        + " | ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True))
        + " |"
        for line in table
    ]
    lines.insert(1, "| " + " | ".join("-" * width for width in widths) + " |")
    return "\n".join(lines) + "\n"


def document(rows: Sequence[Row], server: str, seconds: float) -> str:
    today = datetime.now(UTC).strftime("%Y-%m-%d")
    return (
        "<!-- Written by `make bench`; edit the bench, not this file. -->\n"
        "# How fast\n\n"
        f"{today}; {server}; {machine()}; the whole bench took {seconds / 60:.0f} minutes.\n\n"
        "Figures of ours and of the reference come from the same run, taken in turn. Ratios are ours to\n"
        "the reference, unless they say `times as fast`.\n\n" + markdown(rows)
    )


def again(text: str, rows: Sequence[Row], sections: Sequence[str]) -> str:
    """The document with these rows in the place of earlier ones of the same work, in the same order.

    A row that has no place there is a ValueError: then the whole bench is due.
    """
    before, head, table = text.partition(f"| {COLUMNS[0]} ")
    lines = (head + table).splitlines()
    cells = [[cell.strip() for cell in line.split(" | ")] for line in lines if line]
    for line in cells:
        line[0], line[-1] = line[0].removeprefix("| "), line[-1].removesuffix("|").strip()
    found = [cells[0], *cells[2:]]
    place = 0
    for row in rows:
        while place < len(found) and found[place][0] != row.work:
            place += 1
        if place == len(found):
            raise ValueError(f"no row of the whole bench is {row.work!r}, in this order")
        found[place] = list(row.cells)
        place += 1
    today = datetime.now(UTC).strftime("%Y-%m-%d %H:%M")
    said = f"Measured again since, {today} UTC: {', '.join(sections)}.\n\n"
    return before + said + lines_of(found)


def keep_again(rows: Sequence[Row], sections: Sequence[str], file: Path = RESULTS) -> None:
    """Puts what some sections have measured in the place of what the whole bench had."""
    first, _, _ = file.read_text().partition(SOAK)
    keep(again(first.rstrip("\n") + "\n", rows, sections), None, file)


def keep(bench: str | None, soak: str | None, file: Path = RESULTS) -> None:
    """Writes one part of the file, the bench's or the soak's, and keeps the other."""
    there = file.read_text() if file.exists() else ""
    first, mark, second = there.partition(SOAK)
    soak = (mark + second) if soak is None else SOAK + soak
    bench = first.rstrip("\n") + "\n" if bench is None else bench
    file.write_text(f"{bench}\n{soak}" if soak else bench)
