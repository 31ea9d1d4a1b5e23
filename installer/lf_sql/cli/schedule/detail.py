"""A schedule at length, for schedule show."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, tzinfo
from typing import Any
from uuid import UUID

from lf_sql import durations
from lf_sql.cli.runs import views
from lf_sql.cli.terminal import record, table, words
from lf_sql.instants import read
from lf_sql.policy_words import in_words

FIRST = (  # of what a pipe gets
    *("id", "name", "description", "workflow_title", "status", "english", "cron_expr"),
    *("interval_ms", "timezone", "next_run_at", "next_slots", "calendar_name", "last_run_at"),
    *("last_dispatch_status", "last_error_message", "last_completed_at", "last_result"),
)


def in_order(schedule: Mapping[str, Any]) -> dict[str, Any]:
    """What has a value, the important first."""
    order = {name: n for n, name in enumerate(FIRST)}
    return {
        name: value
        for name, value in sorted(schedule.items(), key=lambda p: (order.get(p[0], 99), p[0]))
        if value not in (None, "", [], {})
    }


def draw(schedule: Mapping[str, Any]) -> None:
    """The schedule for a person: no column of the table by its own name, no JSON."""
    zone = words.zone_of(schedule["timezone"])

    def at(name: str) -> datetime | None:
        return read(schedule[name]) if schedule[name] else None

    paused_until = at("paused_until")
    status = schedule["status"]
    if status == "paused":
        status += f" until {words.when(paused_until, zone)}" if paused_until else ""
        status += f": {schedule['pause_note']}" if schedule["pause_note"] else ""
    english = schedule["english"]
    record.show(
        {
            "schedule": schedule["id"],
            "name": schedule["name"],
            "description": schedule["description"] if schedule["description"] != english else None,
            "workflow": schedule["workflow_title"]
            + (f", version {schedule['workflow_version']}" if schedule["workflow_version"] else ""),
            "status": status,
            "when": schedule["cron_expr"] or _period(schedule),
            "in English": english,
            "zone": schedule["timezone"] if schedule["cron_expr"] else None,
            "from": at("start_at"),
            "until": at("end_at"),
            "jitter": f"up to {durations.spelt(schedule['jitter_ms'])}"
            if schedule["jitter_ms"]
            else None,
            "calendar": schedule["calendar_name"],
            "on holiday": schedule["on_holiday"] if schedule["calendar_name"] else None,
            "condition": schedule["pre_dispatch_condition"],
            **in_words(schedule["effective_policies"], durations.spelt),
            "inputs": schedule["inputs_template"],
            "rotation": schedule["inputs_rotation"],
            "model": schedule["global_model_id"],
            "assignee": schedule["assignee_id"]
            and f"{schedule['assignee_type']} {schedule['assignee_id']}",
            "next slots": _slots(schedule["next_slots"], zone),
            "last slot": schedule["last_dispatch_status"],
            "last error": schedule["last_error_message"],
            "last ended": at("last_completed_at"),
            **_result(schedule["last_result"]),
        },
        zone,
    )
    if schedule["last_runs"]:
        record.heading("Last runs")
        rows = [_run(row, schedule["timezone"]) for row in schedule["last_runs"]]
        table.show(rows, views.history(rows))


def _period(schedule: Mapping[str, Any]) -> str | None:
    if schedule["interval_ms"]:
        return f"every {durations.spelt(schedule['interval_ms'])}"
    return "once"


def _result(result: Any) -> dict[str, Any]:
    """What the last run that ended left: of one that failed its cause and error."""
    if isinstance(result, Mapping) and result.get("cause"):
        said = ": ".join(text for key in ("cause", "error") if (text := str(result.get(key) or "")))
        return {"last failure": said}
    return {"last result": result}


def _slots(slots: list[str], zone: tzinfo | None) -> str:
    found = [read(slot) for slot in slots]
    texts = [words.when(slot, zone) if not n else words.clock(slot, zone)
             for n, slot in enumerate(found)]  # fmt: skip
    return "; ".join(texts)


def _run(row: Mapping[str, Any], zone: str) -> dict[str, Any]:
    instants = ("scheduled_for", "started_at", "completed_at")
    parsed = {name: read(row[name]) if row[name] else None for name in instants}
    return {**row, **parsed, "run_id": UUID(row["run_id"]), "slot_zone": zone}
