"""The columns of tables of runs."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, tzinfo
from typing import Any

from lf_sql import durations
from lf_sql.cli.terminal import words
from lf_sql.cli.terminal.table import Column, Row, inline, short_ids, text_of
from lf_sql.instants import read


def runs(rows: Sequence[Row]) -> list[Column]:
    """Of runs list."""
    ids = short_ids(rows, "id")
    return [
        Column("ID", ids("id"), 0),
        Column("STATUS", "status", 0),
        Column("SCHEDULE", lambda row: row["schedule"] or row["workflow"], 1, least=12, most=36),
        Column("SLOT", _at("scheduled_for", "slot_zone"), 4),
        Column("TRIGGER", "trigger_mode", 6),
        Column("TRY", lambda row: str(row["attempt"]), 5),
        Column("CREATED", lambda row: words.distance(row["created_at"]), 2),
        Column("TOOK", took, 3),
        Column("ERROR", _error, 3, least=8, most=80),
        Column("WORKFLOW", "workflow", 7, least=12, most=36, is_wide=True),
        Column("PRIORITY", "priority", 9, is_wide=True),
        Column("WORKER", "worker_id", 9, is_wide=True),
        Column("FULL ID", "id", 9, is_wide=True),
    ]


def history(rows: Sequence[Row]) -> list[Column]:
    """Of schedule history, and of the last runs in schedule show."""
    ids = short_ids(rows, "run_id")
    return [
        Column("RUN", ids("run_id"), 0),
        Column("STATUS", "status", 0),
        Column("SLOT", _at("scheduled_for", "slot_zone"), 1),
        Column("TRIGGER", "trigger_mode", 5),
        Column("TRY", lambda row: str(row["attempt"]), 4),
        Column("STARTED", lambda row: row["started_at"] and words.distance(row["started_at"]), 2),
        Column("TOOK", took, 2),
        Column("APPROVAL", "approval_status", 6),
        Column("CREDITS", lambda row: f"{float(row['spent_credits']):g}", 7),
        Column("RESULT", lambda row: text_of(row["result"]), 3, least=8, most=80),
        Column("FULL ID", "run_id", 9, is_wide=True),
    ]


def attempts(zone: tzinfo | None) -> list[Column]:
    """Of the attempts in runs show."""
    return [
        Column("TRY", "attempt", 0),
        Column("STARTED", lambda row: words.clock(_instant(row["started_at"]), zone), 1),
        Column("TOOK", lambda row: took({
            "started_at": _instant(row["started_at"]),
            "completed_at": row["ended_at"] and _instant(row["ended_at"]),
        }), 2),
        Column("OUTCOME", lambda row: row["outcome"] or "under way", 0),
        Column("WORKER", "worker_id", 4, least=8),
        Column("ERROR", _error_of_attempt, 3, least=12, most=80),
    ]  # fmt: skip


def events(zone: tzinfo | None) -> list[Column]:
    """Of the events in runs show."""
    return [
        Column("AT", lambda row: words.clock(_instant(row["at"]), zone), 1),
        Column("EVENT", "event", 0, least=12),
        Column("MORE", lambda row: inline(row["payload"]), 2, least=12, most=200),
    ]


def took(row: Row) -> str | None:
    """How long its newest attempt took."""
    started, ended = row["started_at"], row["completed_at"]
    if started is None or ended is None or ended < started:
        return None
    ms = round((ended - started).total_seconds() * 1000)
    return durations.spelt(ms if ms < 1000 else ms // 1000 * 1000)


def _at(name: str, zone: str) -> Any:
    def cell(row: Row) -> str | None:
        at = row.get(name)
        return words.clock(at, words.zone_of(row.get(zone))) if at else None

    return cell


def _instant(text: str) -> datetime:
    return read(text)


def _error_of_attempt(row: Row) -> str | None:
    return ": ".join(filter(None, [row["cause"], row["error"]]))


def _error(row: Row) -> str | None:
    if row["cause"] is None or row["status"] == "completed":
        return None
    return f"{row['cause']}: {row['error']}" if row["error"] else str(row["cause"])
