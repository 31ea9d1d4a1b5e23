"""Progress on long work: one bar on stderr, after a second, on a terminal alone."""

from __future__ import annotations

import itertools
import shutil
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import click

from lf_sql.plain import plain

AFTER = 1.0  # seconds: quick work shows nothing
EVERY = 0.2
BAR = 36  # characters, at most
ERASE = "\x1b[1A\r\x1b[2K"  # the line above, where the cursor stands then
AROUND = 28  # characters between label, bar and item, where the length is known


def cut(text: str, most: int) -> str:
    """A line that is wider than the terminal is drawn below itself, again and again."""
    return text if len(text) <= most else f"{text[: max(most - 1, 0)]}…"


class Progress:
    """The progress of the work; a thread draws it, since a single statement may take long."""

    def __init__(self, label: str, length: int | None) -> None:
        self.label = label
        self.length = length
        self.done = 0
        self.what = ""
        self.is_shown = sys.stderr.isatty()
        self.over = threading.Event()

    def say(self, what: str) -> None:
        """The step that is under way."""
        self.what = what

    def step(self) -> None:
        """One of `length` is done."""
        self.done += 1

    def draw(self) -> None:
        """Until the work is over; then the bar is gone, as if it had been quick."""
        started = time.monotonic()
        if self.over.wait(AFTER):
            return
        columns = shutil.get_terminal_size().columns
        label = cut(plain(self.label), columns // 4)
        width = min(BAR, columns // 8)
        room = columns - len(label) - width - (8 if self.length is None else AROUND)

        def said(_: object) -> str:
            return cut(f"{time.monotonic() - started:.0f} s {plain(self.what)}".rstrip(), room)

        with click.progressbar(
            itertools.count() if self.length is None else None,
            length=self.length,
            label=label,
            item_show_func=said,
            file=sys.stderr,
            width=width,
        ) as bar:
            is_over = False
            while not is_over:
                bar.update(1 if self.length is None else self.done - bar.pos)
                bar.render_progress()
                is_over = self.over.wait(EVERY)
        click.echo(ERASE, file=sys.stderr, nl=False)


@contextmanager
def progress(label: str, length: int | None = None) -> Iterator[Progress]:
    """A bar that fills up to `length` steps, or one that only moves where the length is unknown.

    Nothing else is printed inside.
    """
    work = Progress(label, length)
    if not work.is_shown:
        yield work
        return
    thread = threading.Thread(target=work.draw, name="progress", daemon=True)
    thread.start()
    try:
        yield work
    finally:
        work.over.set()
        thread.join()
