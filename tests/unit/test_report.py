"""Figures that are measured again take the place of those of the whole bench."""

from __future__ import annotations

import pytest

from tests.bench import report
from tests.bench.report import Row

ROWS = [Row("a", "1 s"), Row("beside", "2 s", "3 s", "0.67"), Row("b", "4 s"), Row("beside", "5 s")]


def test_only_they_change() -> None:
    before = report.document(ROWS, "PostgreSQL", 60)
    new = [Row("beside", "6 s", "7 s", "0.86", "<= 1", True), Row("beside", "8 s")]
    after = report.again(before, new, ["x", "y"])
    assert [line for line in after.splitlines() if line.startswith("| ")][2:] == [
        line
        for line in report.markdown([ROWS[0], new[0], ROWS[2], new[1]]).splitlines()
        if line.startswith("| ")
    ][2:]
    head, said, _ = after.partition("Measured again since, ")
    assert before.startswith(head)
    assert said
    assert " UTC: x, y.\n" in after


def test_a_row_without_a_place_is_refused() -> None:
    with pytest.raises(ValueError, match="no row of the whole bench is 'c'"):
        report.again(report.document(ROWS, "PostgreSQL", 60), [Row("c", "1 s")], ["x"])
