"""The keys of the file: what each value is, and the column behind it. schema.json has the same."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

from lf_sql.ascode.source import Value, kind_of
from lf_sql.db import INTEGER_MAX
from lf_sql.durations import duration

TOP = ("project", "tenant", "calendars", "workflows")
CALENDAR = ("kind", "timezone", "dates", "rules", "was")
WORKFLOW = ("title", "kind", "status", "definition", "schedules", "was")
WINDOW = ("start", "end")

# key of a schedule: column, and what it is
SCHEDULE: Mapping[str, tuple[str, str]] = {
    "cron": ("cron_expr", "text"),
    "every": ("interval_ms", "duration"),
    "at": ("run_at", "instant"),
    "timezone": ("timezone", "text"),
    "calendar": ("calendar_id", "text"),
    "on_holiday": ("on_holiday", "text"),
    "window": ("start_at", "object"),
    "jitter": ("jitter_ms", "duration"),
    "enabled": ("is_active", "boolean"),
    "description": ("description", "text"),
    "agent": ("assignee_id", "text"),
    "team": ("assignee_id", "text"),
    "assignment": ("workflow_assignment_id", "uuid"),
    "approval": ("approval_policy", "object"),
    "retry": ("retry_policy", "object"),
    "failure": ("failure_policy", "object"),
    "queue": ("queue_policy", "object"),
    "inputs": ("inputs_template", "object"),
    "rotation": ("inputs_rotation", "list"),
    "condition": ("pre_dispatch_condition", "object"),
    "model": ("global_model_id", "text"),
    "version": ("workflow_version", "integer"),
    "was": ("name", "text"),
}
# Columns that a left-out key sets to this; the others of the table to NULL, which of a policy is
# what its assignment and the server say. jitter_ms is kept.
DEFAULTS: Mapping[str, Any] = {
    "timezone": "UTC",
    "on_holiday": "skip",
    "is_active": True,
    "inputs_template": {},
    "assignee_type": "agent",
}


def known(value: Value, keys: Iterable[str], what: str) -> None:
    """Refuse a key that is none of `keys`, naming the nearest."""
    keys = list(keys)
    for key, item in value.items():
        if key not in keys:
            folded = {k.replace("_", ""): k for k in keys}
            near = difflib.get_close_matches(re.sub("[-_ ]", "", key.lower()), folded, 1, 0.0)
            raise item.wrong(
                f'unknown key "{key}" of {what}; the nearest is "{folded[near[0]]}"',
                f"known keys: {', '.join(keys)}",
            )


def text(value: Value) -> str:
    """Text; a number that was meant as text is text."""
    if isinstance(value.value, str):
        return value.value
    if isinstance(value.value, int | Decimal) and not isinstance(value.value, bool):
        return str(value.value)
    raise value.wrong(f"this is {kind_of(value.value)}; text belongs here")


def milliseconds(value: Value) -> int:
    """6h, 90m, 1h30m, 30s."""
    found = duration(value.value) if isinstance(value.value, str) else None
    if found is None and value.value == 0 and not isinstance(value.value, bool):
        return 0
    if found is None:
        raise value.wrong(
            f"this is {kind_of(value.value)}; a duration belongs here", "write 6h, 90m or 1h30m"
        )
    return round(found.total_seconds() * 1000)


def instant(value: Value) -> datetime:
    """ISO 8601 with its offset: a file means the same wherever it is applied."""
    hint = "write 2026-12-24T09:00+01:00, or Z for UTC"
    try:
        found = datetime.fromisoformat(str(value.value).strip())
        if isinstance(value.value, str) and found.tzinfo is not None:
            return found.astimezone(UTC)
    except (ValueError, OverflowError):
        raise value.wrong(f"this is {kind_of(value.value)}; no time", hint) from None
    raise value.wrong("this time does not say its offset from UTC", hint)


def _typed(kind: type | tuple[type, ...], word: str) -> Callable[[Value], Any]:
    def check(value: Value) -> Any:
        is_bool = isinstance(value.value, bool)
        if not isinstance(value.value, kind) or (is_bool and kind is not bool):
            raise value.wrong(f"this is {kind_of(value.value)}; {word} belongs here")
        return value.plain()

    return check


def integer(value: Value) -> int:
    """A whole number that a column of type integer holds."""
    found: int = _typed(int, "a whole number")(value)
    if abs(found) > INTEGER_MAX:
        raise value.wrong(f"{found} is too large", f"at most {INTEGER_MAX}")
    return found


def uuid(value: Value) -> UUID:
    """A whole uuid."""
    try:
        return UUID(str(value.value))
    except ValueError:
        raise value.wrong(f"this is {kind_of(value.value)}; a uuid belongs here") from None


READ: Mapping[str, Callable[[Value], Any]] = {
    "text": text,
    "duration": milliseconds,
    "instant": instant,
    "uuid": uuid,
    "boolean": _typed(bool, "true or false"),
    "integer": integer,
    "object": _typed(dict, "a mapping"),
    "list": _typed(list, "a list"),
}


_ID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")


def as_id(name: str) -> UUID | None:
    """The id, where the text is an id, in letters of either case."""
    return UUID(name) if _ID.fullmatch(name) else None


def folded(name: str) -> str:
    """The text; an id as the database writes it."""
    found = as_id(name)
    return name if found is None else str(found)


def calendar_name(said: str) -> str:
    """The name of a calendar as the database keeps it: without the blanks around it."""
    return said.strip(" ")
