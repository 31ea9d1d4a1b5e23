"""Instants and dates that Python cannot hold, read as the last or first that it can.

The database knows the years to 294276, infinity, and those before Christ; a row that has one must
break no command.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING

import psycopg
from psycopg.abc import Buffer
from psycopg.types.datetime import DateLoader, TimestamptzLoader

if TYPE_CHECKING:
    from lf_sql.db import Connection

LATEST = datetime.max.replace(tzinfo=UTC)
EARLIEST = datetime.min.replace(tzinfo=UTC)
WRITTEN = re.compile(r"\b(\d{4}-\d\d-\d\d \d\d:\d\d(?::\d\d)?) UTC\b")


def _is_early(data: Buffer) -> bool:
    text = bytes(data)
    return text.startswith(b"-") or text.endswith(b"BC")


def read(text: str) -> datetime:
    """An instant as it stands in a JSON answer of the database."""
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return EARLIEST if _is_early(text.encode()) else LATEST


def in_text(text: str, spelt: Callable[[datetime], str]) -> str:
    """Text of the database with its instants, `2026-12-24 08:00 UTC`, spelt another way."""

    def said(found: re.Match[str]) -> str:
        try:
            at = datetime.fromisoformat(found[1])
        except ValueError:  # no such day: somebody's own words
            return found[0]
        return spelt(at.replace(tzinfo=UTC))

    return WRITTEN.sub(said, text)


class _Instant(TimestamptzLoader):
    def load(self, data: Buffer) -> datetime:
        try:
            return super().load(data)
        except psycopg.DataError:
            return EARLIEST if _is_early(data) else LATEST


class _Day(DateLoader):
    def load(self, data: Buffer) -> date:
        if len(bytes(data)) > 10 or not bytes(data)[:1].isdigit():
            return date.min if _is_early(data) else date.max
        return super().load(data)


def read_all(conn: Connection) -> None:
    """From now on the connection reads every instant and date that there may be."""
    conn.adapters.register_loader("timestamptz", _Instant)
    conn.adapters.register_loader("date", _Day)
