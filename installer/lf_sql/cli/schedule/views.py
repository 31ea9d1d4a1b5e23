"""The columns of tables of schedules and of their slots."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime, tzinfo

from lf_sql import durations
from lf_sql.cli.terminal import words
from lf_sql.cli.terminal.table import Column, Row, short_ids, text_of
from lf_sql.instants import read


def schedules(rows: Sequence[Row]) -> list[Column]:
    """Of schedule list. NAME begins with what commands take: a name, or the beginning of an id."""
    ids = short_ids(rows, "id")

    def name(row: Row) -> str:
        return str(row["name"] or f"{ids('id')(row)} {row['description'] or row['workflow']}")

    return [
        Column("NAME", name, 0, least=18, most=18),
        Column("WHEN", rule, 1, least=13, most=20),
        Column("ZONE", "timezone", 4, least=16),
        Column("NEXT", _next(words.when), 2, short=_next(words.clock)),
        Column("LAST", _last, 3, short=_last_status, short_least=16),
        Column("STATUS", "status", 0),
        Column("WORKFLOW", "workflow", 9, is_wide=True),
        Column("LAST SLOT", "last_status", 9, is_wide=True),
        Column("DESCRIPTION", "description", 9, is_wide=True),
        Column("FULL ID", "id", 9, is_wide=True),
    ]


def preview(rows: Sequence[Row], theirs: str | None, viewer: tzinfo | None) -> list[Column]:
    """Of schedule preview."""
    zone = words.zone_of(theirs)
    return [
        Column("WHEN", lambda row: words.when(row["tick_at"], zone), 0,
               short=lambda row: words.clock(row["tick_at"], zone)),
        Column("YOURS", lambda row: words.clock(row["tick_at"], viewer), 3),
        Column("DECISION", "decision", 0),
        Column("REASON", "reason", 1, least=12, is_folded=True),
        Column("INPUTS", lambda row: text_of(row["inputs"]), 4, least=8, most=120),
    ]  # fmt: skip


def backfill(rows: Sequence[Row], zone: tzinfo | None) -> list[Column]:
    """Of schedule backfill: the slots, as they stand in the answer's JSON."""
    return [
        Column(
            "SLOT", lambda row: words.clock(read(row.get("scheduled_for") or row["slot"]), zone)
        ),
        Column("DECISION", "decision", 0),
        Column("REASON", "reason", 1, least=12, is_folded=True),
    ]


def days(rows: Sequence[Row]) -> list[Column]:
    """Of schedule preview --all. WORKFLOW goes first: most schedules are named after theirs."""
    return [
        Column("SCHEDULE", "schedule", 0, least=14, most=40),
        Column("WORKFLOW", "workflow", 5, least=14, most=40),
        Column("DAY", "day", 0),
        Column("DECISION", "decision", 0),
        Column("REASON", "reason", 1, least=12, is_folded=True),
        Column("TIMES", "times", 2, least=11, is_folded=True),
        Column("TIMEZONE", "timezone", 4, least=12),
    ]


def calendars(rows: Sequence[Row]) -> list[Column]:
    """Of schedule calendar list: names, since the ids of seeds are all but the same."""
    return [
        Column("NAME", "name", 0, least=26, most=40),
        Column("KIND", "kind", 1),
        Column("ZONE", "timezone", 3, least=10),
        Column("DATES", lambda row: str(row["dates"]), 2),
        Column("RULES", lambda row: str(row["rules"]), 4),
        Column("FIRST", _day("first"), 5),
        Column("LAST", _day("last"), 2),
        Column("USED BY", lambda row: str(row["schedules"]), 1),
        Column("SEED", "is_seed", 6),
        Column("FULL ID", "id", 9, is_wide=True),
    ]


def rule(row: Row) -> str:
    """When it fires, as short as it is written."""
    if row["cron_expr"]:
        return str(row["cron_expr"])
    if row["interval_ms"]:
        return f"every {durations.spelt(row['interval_ms'])}"
    at: datetime = row["run_at"]
    return f"once, {at.astimezone(words.zone_of(row['zone'])):%Y-%m-%d}"


def _next(how: Callable[[datetime, tzinfo | None], str]) -> Callable[[Row], str | None]:
    def cell(row: Row) -> str | None:
        return how(row["next_run_at"], words.zone_of(row["zone"])) if row["next_run_at"] else None

    return cell


def _last_status(row: Row) -> str | None:
    """Of the newest run, whatever started it; where that was no slot, what it was."""
    if row["last_run_status"] is None or row["last_run_trigger"] == "schedule":
        return row["last_run_status"]
    return f"{row['last_run_status']}, {row['last_run_trigger']}"


def _last(row: Row) -> str | None:
    status = _last_status(row)
    return status and f"{status}, {words.distance(row['last_run_moved_at'])}"


def _day(name: str) -> Callable[[Row], str | None]:
    return lambda row: str(row[name]) if row[name] else None
