"""The builder's fields: a schedule's columns as text, and back; what a form would change."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

from lf_sql.console.charts import interval_words
from lf_sql.console.form import (
    Form,
    UnfitError,
    instant,
    integer,
    milliseconds,
    parsed,
)
from lf_sql.db import INTEGER_MAX
from lf_sql.durations import spelt

UNITS = {"minutes": 60_000, "hours": 3_600_000, "days": 86_400_000}

# Each key of each policy: how it is written in the form, and what it is called. A field left empty
# leaves the key out, so that the assignment's policy or the server's default holds.
POLICIES: Mapping[str, Mapping[str, tuple[str, str]]] = {
    "approval_policy": {
        "requiresApproval": ("choice", "Approval"),
        "mode": ("word", "Approval inside a run"),
        "gates": ("list", "Actions that need approval"),
        "expiresAfterMs": ("duration", "Approval expires after"),
    },
    "retry_policy": {
        "maxRetries": ("number", "Retries"),
        "backoffMs": ("duration", "Wait before a retry"),
        "retryOn": ("many", "Causes to retry"),
        "timeoutMs": ("duration", "Longest an attempt may take"),
    },
    "failure_policy": {
        "mode": ("word", "When a run fails for good"),
        "fallbackAssigneeId": ("word", "Hand the run to"),
    },
    "queue_policy": {
        "mode": ("word", "Runs at the same time"),
        "maxConcurrency": ("number", "At most at the same time"),
        "priority": ("number", "Priority"),
        "onOverlap": ("word", "If one is still running"),
        "onMissed": ("word", "Slots missed while down"),
        "maxBackfill": ("number", "At most so many of them"),
        "spreadWindowMs": ("duration", "Spread over"),
    },
}
COLUMNS = {
    "name": "Name",
    "description": "Description",
    "cron_expr": "Cron expression",
    "interval_ms": "Interval",
    "run_at": "Instant",
    "timezone": "Time zone",
    "start_at": "Not before",
    "end_at": "Not after",
    "jitter_ms": "Jitter",
    "calendar_id": "Calendar",
    "on_holiday": "On a closed date",
    "assignee_id": "Assignee",
    "workflow_assignment_id": "Assignment",
    "workflow_version": "Version of the workflow",
    "global_model_id": "Model",
    "inputs_template": "Inputs",
    "inputs_rotation": "Rotation of inputs",
    "pre_dispatch_condition": "Condition",
}
LONGEST = 316_224_000_000  # milliseconds: the longest interval that the database takes
INSTANTS = ("run_at", "start_at", "end_at")
JSON = (*POLICIES, "inputs_template", "inputs_rotation", "pre_dispatch_condition")

BLANK: dict[str, Any] = {
    "id": None, "name": "", "workflow_id": None, "description": "",
    "mode": "pick", "frequency": "weekly", "time": "09:00", "minute": 0,
    "days": ["1", "2", "3", "4", "5"], "day_of_month": 1, "cron_expr": "0 9 * * 1-5",
    "every": 15, "unit": "minutes", "run_at": "", "timezone": "", "start_at": "", "end_at": "",
    "jitter_ms": "", "calendar_id": None, "on_holiday": "skip", "assignee": "", "assignment": "",
    "workflow_version": "", "global_model_id": "",
    "inputs": "{}", "rotation": "", "condition": "", "is_active": True,
    "policies": {
        "approval_policy": {"requiresApproval": "true"}, "retry_policy": {}, "failure_policy": {},
        "queue_policy": {"mode": "parallel"},
    },
}  # fmt: skip


def _wall(at: datetime | None, zone: str) -> str:
    return at.astimezone(ZoneInfo(zone)).strftime("%Y-%m-%dT%H:%M") if at else ""


def _text(kind: str, value: Any) -> Any:
    """A policy's value in the form."""
    if kind == "duration":
        return spelt(value)
    if kind == "list":
        return ", ".join(value)
    if kind == "many":
        return value
    return str(value).lower() if kind == "choice" else str(value)


def values(row: Mapping[str, Any], zone: str) -> dict[str, Any]:
    """A stored schedule as the form shows it; instants on the viewer's clock."""
    shown: dict[str, Any] = {
        **BLANK,
        "id": row["id"],
        "name": row["name"] or "",
        "workflow_id": str(row["workflow_id"]),
        "description": row["description"] or "",
        "timezone": row["timezone"],
        **{name: _wall(row[name], zone) for name in INSTANTS},
        "jitter_ms": spelt(row["jitter_ms"]) if row["jitter_ms"] else "",
        "calendar_id": str(row["calendar_id"]) if row["calendar_id"] else None,
        "on_holiday": row["on_holiday"] or "skip",
        "assignee": f"{row['assignee_type']}:{row['assignee_id']}" if row["assignee_id"] else "",
        "assignment": str(row["workflow_assignment_id"] or ""),
        "workflow_version": row["workflow_version"] or "",
        "global_model_id": row["global_model_id"] or "",
        "inputs": json.dumps(row["inputs_template"], ensure_ascii=False),
        "rotation": _json(row["inputs_rotation"]),
        "condition": _json(row["pre_dispatch_condition"]),
        "is_active": row["is_active"],
        "policies": {
            policy: {
                key: _text(kind, row[policy][key])
                for key, (kind, _) in keys.items()
                if row[policy].get(key) is not None
            }
            for policy, keys in POLICIES.items()
        },
    }
    if row["interval_ms"] is not None:
        fitting = [unit for unit, size in UNITS.items() if row["interval_ms"] % size == 0]
        unit = fitting[-1] if fitting else "minutes"
        count = row["interval_ms"] / UNITS[unit]
        return {**shown, "mode": "every", "unit": unit, "every": f"{count:g}"}
    if row["run_at"] is not None:
        return {**shown, "mode": "once"}
    return {**shown, "mode": "expr", "cron_expr": row["cron_expr"]}


def _json(value: Any) -> str:
    return "" if value is None else json.dumps(value, ensure_ascii=False)


def number(value: str | None) -> int | str | None:
    """A number where it is one; any other text is left for the database to refuse."""
    text = (value or "")[:12]
    return int(text) if text.lstrip("-").isdigit() and text.isascii() else (text or None)


def interval(form: Form) -> int:
    """The period in milliseconds."""
    count = form.get("every", "")
    try:
        found = round(float(count) * UNITS.get(form.get("unit", ""), 60_000))
    except (ValueError, OverflowError):
        raise UnfitError(
            "interval_ms", f"“{count[:60]}” is no number.", "For example 15."
        ) from None
    if found > LONGEST:
        raise UnfitError("interval_ms", "This interval is too long.", "At most 10 years.")
    return found


def _instant(text: str | None, field: str, zone: str, before: datetime | None) -> str | None:
    """An instant of the viewer's clock; the stored one where its field has not been touched."""
    if not text:
        return None
    if before is not None and text == _wall(before, zone):
        return before.isoformat()
    at = instant(text, field).replace(tzinfo=ZoneInfo(zone))
    try:
        return at.astimezone(UTC).isoformat()
    except OverflowError:
        raise UnfitError(field, f"{text} is out of range.", "Give a year up to 9999.") from None


def _policy(form: Form, policy: str, before: Mapping[str, Any]) -> dict[str, Any]:
    found = {key: value for key, value in before.items() if key not in POLICIES[policy]}
    for key, (kind, _) in POLICIES[policy].items():
        name = f"{policy}.{key}"
        text = form.text(name)
        if kind == "many":
            value: Any = form.many(name) or None
        elif kind == "list":
            value = [part.strip() for part in (text or "").split(",") if part.strip()] or None
        elif kind == "duration":
            value = milliseconds(text, name)
        elif kind == "number":
            value = number(text)
        elif kind == "choice":
            value = {"true": True, "false": False}.get(text or "")
        else:
            value = text
        if value is not None:
            found[key] = value
    return found


def settings(form: Form, zone: str, before: Mapping[str, Any]) -> dict[str, Any]:
    """The columns of the form, without those of its times; `zone` is the viewer's."""
    kind, _, assignee = form.get("assignee", "").partition(":")
    found: dict[str, Any] = {
        "name": form.text("name"),
        "description": form.text("description"),
        # What no integer holds is out of range in any case: the database says what is allowed.
        "jitter_ms": min(milliseconds(form.text("jitter_ms"), "jitter_ms") or 0, INTEGER_MAX),
        "calendar_id": form.text("calendar_id"),
        "on_holiday": (form.text("calendar_id") and form.text("on_holiday")) or "skip",
        "assignee_type": kind or before.get("assignee_type") or "agent",
        "assignee_id": assignee or None,
        "workflow_assignment_id": form.text("assignment"),
        "workflow_version": integer(form.text("workflow_version"), "workflow_version"),
        "global_model_id": form.text("global_model_id"),
        "inputs_template": parsed(form.text("inputs"), "inputs_template") or {},
        "inputs_rotation": parsed(form.text("rotation"), "inputs_rotation"),
        "pre_dispatch_condition": parsed(form.text("condition"), "pre_dispatch_condition"),
        **{policy: _policy(form, policy, before.get(policy) or {}) for policy in POLICIES},
    }
    for name in ("start_at", "end_at"):
        found[name] = _instant(form.text(name), name, zone, before.get(name))
    if form.get("mode") == "once":
        found["run_at"] = _instant(form.text("run_at"), "run_at", zone, before.get("run_at"))
        if found["run_at"] is None:
            raise UnfitError("run_at", "When is it to run?", "Give a date and a time.")
    return found


def _plain(value: Any) -> Any:
    """A stored value as a patch would name it."""
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat()
    return value if isinstance(value, (dict, list, bool, int, type(None))) else str(value)


def patch(row: Mapping[str, Any], wanted: Mapping[str, Any]) -> dict[str, Any]:
    """What differs between the stored row and what the form says."""
    found = {}
    for name, value in wanted.items():
        stored = row[name]
        if name in INSTANTS and value is not None and stored is not None:
            if datetime.fromisoformat(value) != stored:
                found[name] = value
        elif _plain(stored) != value:
            found[name] = value
    return found


def _said(name: str, value: Any, labels: Mapping[str, str]) -> str:
    if value is None or value == "" or value == {}:
        return "none"
    if name == "interval_ms" and isinstance(value, int):
        return interval_words(value)
    if name == "jitter_ms" and isinstance(value, int):
        return f"± {spelt(value)}" if value else "none"
    if isinstance(value, (dict, list)):
        return json.dumps(value, ensure_ascii=False)
    return labels.get(str(value), str(value))


def changes(
    row: Mapping[str, Any], found: Mapping[str, Any], labels: Mapping[str, str], zone: str
) -> list[tuple[str, str, str]]:
    """The patch for people: what, from what, to what; `labels` are the names behind ids."""
    lines = []
    for name, value in found.items():
        if name in POLICIES:
            for key, (kind, label) in POLICIES[name].items():
                was, will = row[name].get(key), value.get(key)
                if was != will:
                    shown = [
                        "default" if each is None else labels.get(str(each), str(_text(kind, each)))
                        for each in (was, will)
                    ]
                    lines.append((label, shown[0], shown[1]))
        elif name in INSTANTS:
            at = datetime.fromisoformat(value) if value else None
            was_at, will_at = (_wall(each, zone).replace("T", " ") for each in (row[name], at))
            lines.append((COLUMNS[name], was_at or "none", will_at or "none"))
        elif name in COLUMNS:
            before = _said(name, _plain(row[name]), labels)
            lines.append((COLUMNS[name], before, _said(name, value, labels)))
    return lines
