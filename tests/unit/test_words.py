"""Times, spans and ids in words; tables that fit."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from uuid import UUID
from zoneinfo import ZoneInfo

import pytest

from lf_sql import durations, instants
from lf_sql.cli.terminal import words
from lf_sql.cli.terminal.table import Column, _Fitted, fit
from lf_sql.near import nearest

NOON = datetime(2026, 11, 28, 12, tzinfo=UTC)  # a Saturday
ISTANBUL = ZoneInfo("Europe/Istanbul")


@pytest.fixture(autouse=True)
def noon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(words, "now", lambda: NOON)


@pytest.mark.parametrize(
    ("at", "said"),
    [
        (datetime(2026, 11, 30, 6, tzinfo=UTC), "Mon 09:00 +03, in 42 h"),
        (datetime(2026, 12, 1, 6, tzinfo=UTC), "Tue 09:00 +03, in 2 d"),
        (datetime(2026, 11, 28, 11, 30, tzinfo=UTC), "Sat 14:30 +03, 30 min ago"),
        (datetime(2026, 12, 7, 6, tzinfo=UTC), "7 Dec 09:00 +03, in 8 d"),
        (datetime(2029, 1, 1, 6, tzinfo=UTC), "1 Jan 2029, in 2 y"),
        (NOON, "Sat 15:00 +03, now"),
        (datetime.max.replace(tzinfo=UTC), "31 Dec 9999, in 7978 y"),
    ],
)
def test_when(at: datetime, said: str) -> None:
    assert words.when(at, ISTANBUL) == said


def test_instants_inside_text() -> None:
    text = "until 2026-11-30 06:00 UTC, since 2026-11-28 11:30:07 UTC; 2026-02-30 10:00 UTC is none"
    assert instants.in_text(text, lambda at: words.clock(at, ISTANBUL)) == (
        "until Mon 09:00 +03, since Sat 14:30 +03; 2026-02-30 10:00 UTC is none"
    )


def test_weekdays_never_mean_two_days() -> None:
    for days in range(-6, 7):
        said = words.clock(NOON + timedelta(days=days))
        assert said.startswith("Sat") is (days == 0)


@pytest.mark.parametrize(
    ("ms", "said"),
    [
        (120_000, "2m"), (21_600_000, "6h"), (5_400_000, "1h 30m"), (93_600_000, "1d 2h"),
        (7_776_000_000, "90d"), (1500, "1s 500ms"), (0, "0s"),
    ],
)  # fmt: skip
def test_a_length_of_time_is_read_as_it_is_written(ms: int, said: str) -> None:
    assert durations.spelt(ms) == said
    assert durations.duration(said) == timedelta(milliseconds=ms)


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("lst", "list"), ("LIST", "list"), ("cal", "calendar"), ("calender", "calendar"),
        ("nonsense", None), ("con", None), ("li", None), ("", None), ("x", None),
    ],
)  # fmt: skip
def test_only_what_is_near_is_suggested(typed: str, meant: str | None) -> None:
    assert nearest(typed, ["calendar", "condition", "console", "list"]) == meant


def test_the_shortest_beginning_that_is_unique() -> None:
    ids = [
        UUID("3f2a1b8c-0000-4000-8000-000000000000"),
        UUID("3f2a1b8c-0010-4000-8000-000000000000"),
    ]
    assert words.digits_needed(ids[:1]) == 8
    assert words.digits_needed(ids) == 12


def widths(room: int) -> list[tuple[str, int]]:
    columns = [
        _Fitted(Column("NAME", "n", 0, least=6), ["x" * 26], 20, full=26),
        _Fitted(Column("ZONE", "z", 2), ["y" * 10], 10),
        _Fitted(Column("NEXT", "a", 1), ["z" * 12], 12, ["z" * 5]),
    ]
    return [(one.column.title, one.width) for one in fit(columns, room)]


def test_long_cells_are_shortened_then_others_cut_then_the_last_in_rank_goes() -> None:
    assert widths(100) == [("NAME", 26), ("ZONE", 10), ("NEXT", 12)], "nothing is cut"
    assert widths(50) == [("NAME", 24), ("ZONE", 10), ("NEXT", 12)]
    assert widths(40) == [("NAME", 21), ("ZONE", 10), ("NEXT", 5)]
    assert widths(30) == [("NAME", 11), ("ZONE", 10), ("NEXT", 5)]
    assert widths(24) == [("NAME", 17), ("NEXT", 5)]
    assert widths(12) == [("NAME", 12)]


def test_a_short_cell_is_cut_only_where_it_may_be() -> None:
    def kept(room: int, short_least: int | None) -> list[tuple[str, int]]:
        last = Column("LAST", "l", 3, short=lambda _: None, short_least=short_least)
        columns = [
            _Fitted(Column("NAME", "n", 0), ["x" * 10], 10, full=10),
            _Fitted(last, ["y" * 30], 30, ["y" * 20]),
        ]
        return [(one.column.title, one.width) for one in fit(columns, room)]

    assert kept(42, 8) == [("NAME", 10), ("LAST", 30)]
    assert kept(41, 8) == [("NAME", 10), ("LAST", 20)]
    assert kept(25, 8) == [("NAME", 10), ("LAST", 13)]
    assert kept(25, None) == [("NAME", 10)]


def test_a_folded_column_is_as_wide_as_its_longest_word() -> None:
    def width(room: int, *cells: str) -> int:
        column = Column("REASON", "r", 0, least=8, is_folded=True)
        longest = max(map(len, cells))
        name = _Fitted(Column("NAME", "n", 0), ["x" * 10], 10, full=10)
        one = _Fitted(column, list(cells), min(longest, column.most), full=longest)
        return fit([name, one], room)[1].width

    said = "moved from Fri 25 Dec: holidays-of-the-us"
    assert width(80, said) == len(said)
    assert width(30, said) == len("holidays-of-the-us")
    assert width(20, "a b c d e f") == 8
    assert width(36, "x" * 100) == 24, "a word of any length has a bound"
