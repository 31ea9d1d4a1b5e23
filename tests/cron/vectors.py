"""The test data of this package, and the session settings under which all of it is asked."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import psycopg

DATA = Path(__file__).parent / "data"

SETTINGS = {
    "UTC": {"timezone": "UTC", "datestyle": "ISO, MDY", "intervalstyle": "postgres"},
    "elsewhere": {
        "timezone": "Australia/Lord_Howe",
        "datestyle": "SQL, DMY",
        "intervalstyle": "sql_standard",
    },
}


@cache
def load(name: str) -> list[dict[str, Any]]:
    """The rows of one file."""
    return [json.loads(line) for line in (DATA / f"{name}.jsonl").read_text().splitlines()]


def ids(name: str) -> list[str]:
    """The names of a file's rows."""
    return [row["id"] for row in load(name)]


@contextmanager
def session(conn: psycopg.Connection[Any], name: str) -> Iterator[None]:
    """The connection under one of SETTINGS."""
    for key, value in SETTINGS[name].items():
        conn.execute("select set_config(%s, %s, false)", (key, value))
    try:
        yield
    finally:
        for key in SETTINGS[name]:
            conn.execute(f"reset {key}")


def refusal(
    conn: psycopg.Connection[Any], query: str, params: tuple[Any, ...]
) -> psycopg.Error | None:
    """The error that a query ends in, or None."""
    try:
        conn.execute(query, params)
    except psycopg.Error as error:
        return error
    return None
