"""The bar of long work stays on its line, and is gone at the end."""

from __future__ import annotations

import os
import re
import sys

import pytest

from lf_sql.cli import progress
from lf_sql.cli.terminal.watch import Screen

WHAT = "looking at each of the many schedules that a tenant with a long name has made so far"


@pytest.mark.parametrize("length", [None, 7])
@pytest.mark.parametrize("columns", [60, 80, 120])
def test_no_line_is_wider_than_the_terminal(
    monkeypatch: pytest.MonkeyPatch, columns: int, length: int | None
) -> None:
    screen = Screen()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setattr(
        "shutil.get_terminal_size", lambda *_, **__: os.terminal_size((columns, 24))
    )
    monkeypatch.setattr(progress, "AFTER", 0)
    monkeypatch.setattr(progress, "EVERY", 0)
    work = progress.Progress("schedule calendar import --country of the world", length)
    work.say(WHAT)
    beats = iter([False, False, False, True])
    monkeypatch.setattr(work.over, "wait", lambda _: next(beats))
    work.draw()
    lines = re.split(r"[\r\n]", re.sub(r"\x1b\[[?0-9]*[A-Za-z]", "", screen.getvalue()))
    assert "0 s l" in screen.getvalue()
    assert [line for line in lines if len(line) > columns] == []
    assert screen.getvalue().endswith(f"\n{progress.ERASE}"), "at the end nothing stands there"
