"""Compares what the files want with what is there: added, changed, removed. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any
from uuid import UUID

from lf_sql.ascode import calendars as rules_of
from lf_sql.ascode import keys
from lf_sql.ascode.calendars import Row
from lf_sql.ascode.canon import canon
from lf_sql.ascode.model import Entry, Schedule, Wanted
from lf_sql.ascode.present import SCHEDULE_COLUMNS, Present
from lf_sql.durations import spelt
from lf_sql.errors import LfSqlError
from lf_sql.near import the_nearest

KEY_OF = {
    **{column: key for key, (column, _) in keys.SCHEDULE.items() if key not in ("was", "window")},
    **{"start_at": "window.start", "end_at": "window.end", "workflow_id": "workflow"},
    **{"assignee_id": "assignee", "name": "name"},
}


@dataclass
class Change:
    """One row's: `row` is what is there, `wanted` the columns, `fields` (key, old, new)."""

    action: str  # add, change, remove
    kind: str  # calendar, workflow, schedule
    name: str
    entry: Entry | None = None
    row: Row | None = None
    wanted: dict[str, Any] = field(default_factory=dict)
    fields: list[tuple[str, Any, Any]] = field(default_factory=list)
    of: str | None = None  # a schedule's workflow

    def as_json(self) -> dict[str, Any]:
        """For --json."""
        found: dict[str, Any] = {"action": self.action, "kind": self.kind, "name": self.name}
        if self.of is not None:
            found["workflow"] = self.of
        if self.action == "change":
            found["fields"] = {key: {"old": old, "new": new} for key, old, new in self.fields}
        return found


@dataclass
class Plan:
    """In the order in which it is carried out; `ids` are of what is there and stays."""

    changes: list[Change] = field(default_factory=list)
    ids: dict[tuple[str, str], UUID] = field(default_factory=dict)
    kept: list[str] = field(default_factory=list)

    def of(self, kind: str, *actions: str) -> list[Change]:
        """The changes of a kind."""
        return [c for c in self.changes if c.kind == kind and c.action in actions]

    def count(self, action: str) -> int:
        """How many."""
        return sum(change.action == action for change in self.changes)


@dataclass(frozen=True)
class New:
    """Stands for the id of a row that does not exist yet."""

    kind: str
    name: str


def make(wanted: Wanted, present: Present, prune: bool) -> Plan:
    """Raises LfSqlError where a name matches no row, or several."""
    plan = Plan()
    own = [row for row in present.calendars if not row["is_seed"]]
    calendars = _match(wanted.calendars, own, "name")
    workflows = _match(wanted.workflows, present.workflows, "title")
    schedules = _match(wanted.schedules, present.schedules, "name")
    calendar_ids: dict[str, Any] = dict(present.calendar_names())
    for name, row in calendars.items():
        if row is not None and row["name"] != name:
            del calendar_ids[row["name"]]
        calendar_ids[name] = row["id"] if row else New("calendar", name)
    workflow_ids = {n: r["id"] if r else New("workflow", n) for n, r in workflows.items()}

    gone = _gone(wanted, present, {"schedule": schedules}) if prune else []
    for row in gone:
        title = next((w["title"] for w in present.workflows if w["id"] == row["workflow_id"]), None)
        name = row["name"] or str(row["id"])
        plan.changes.append(Change("remove", "schedule", name, row=row, of=title))
    for name, row in rules_of.in_order(wanted.calendars, calendars).items():
        entry = wanted.calendars[name]
        columns = {**entry.wanted, "name": name}
        columns["rules"] = rules_of.resolved(columns["rules"], calendar_ids)
        plan.changes += _compare("calendar", entry, row, columns, lambda _, value: value)
    for name, row in workflows.items():
        entry = wanted.workflows[name]
        if row is None and entry.id is not None:
            raise entry.at.wrong("there is no workflow of that id", "call it by its title")
        plan.changes += _compare("workflow", entry, row, entry.wanted, lambda _, value: value)
    shown = _shown(present, calendar_ids, workflow_ids)
    for name, row in schedules.items():
        schedule = wanted.schedules[name]
        columns = _columns(schedule, row, present, calendar_ids, workflow_ids)
        found = _compare("schedule", schedule, row, columns, shown)
        for change in found:
            change.of = schedule.workflow
        plan.changes += found
    if prune:
        _prune_rest(plan, wanted, present, workflows, calendars, calendar_ids)
    for kind, matched in (
        ("calendar", calendars),
        ("workflow", workflows),
        ("schedule", schedules),
    ):
        plan.ids.update({(kind, name): row["id"] for name, row in matched.items() if row})
    return plan


def _match(entries: Mapping[str, Entry], rows: Iterable[Row], column: str) -> dict[str, Row | None]:
    """Each entry's row. Renamed ones come first, in an order in which each new name is free."""
    by_name: dict[Any, list[Row]] = {}
    by_id = {row["id"]: row for row in rows}
    for row in by_id.values():
        by_name.setdefault(row[column], []).append(row)
    found: dict[str, Row | None] = {}
    renamed = [entry for entry in entries.values() if entry.was is not None]
    while True:
        ready = [e for e in renamed if e.name not in by_name and e.was in by_name]
        if not ready:
            break
        for entry in ready:
            found[entry.name] = _only(by_name.pop(entry.was), entry)
        renamed = [entry for entry in renamed if entry not in ready]
    for name, entry in entries.items():
        if name not in found:
            if entry.id is not None:
                found[name] = by_id.get(entry.id)
            else:
                there = by_name.get(name)
                found[name] = _only(there, entry) if there else None
    return found


def _only(rows: list[Row], entry: Entry) -> Row:
    if len(rows) > 1:
        ids = ", ".join(str(row["id"]) for row in rows[:5])
        raise entry.at.wrong(
            f'{len(rows)} are called "{entry.was or entry.name}"',
            f"use the id of one as its key, and title: for its title: {ids}",
        )
    return rows[0]


def _calendar_id(said: str | None, ids: Mapping[str, Any], present: Present) -> Any:
    """The id of the calendar of that name or id, or what stands for it; None for none."""
    own = keys.as_id(said or "")
    return ids.get(said or "") or next((c["id"] for c in present.calendars if c["id"] == own), None)


def _columns(
    schedule: Schedule,
    row: Row | None,
    present: Present,
    calendars: Mapping[str, Any],
    workflows: Mapping[str, Any],
) -> dict[str, Any]:
    columns = {name: schedule.wanted.get(name) for name in SCHEDULE_COLUMNS if name != "id"}
    columns["workflow_id"] = workflows[schedule.workflow]
    if schedule.calendar is not None:
        columns["calendar_id"] = _calendar_id(schedule.calendar, calendars, present)
        if columns["calendar_id"] is None:
            said = f'there is no calendar "{schedule.calendar}"'
            said += the_nearest(schedule.calendar, calendars)
            raise schedule.at.value["calendar"].wrong(said, "lf-sql schedule calendar list")
    if schedule.assignee:
        kind, name = schedule.assignee
        columns["assignee_id"] = present.person(kind, name, schedule.at.value[kind])
    if row is not None:
        if columns["jitter_ms"] is None:
            columns["jitter_ms"] = row["jitter_ms"]
        if row["paused_at"] is not None:  # made by hand, and stays
            columns["is_active"] = row["is_active"]
        if columns["assignee_id"] is None and row["assignee_id"] is None:
            columns["assignee_type"] = row["assignee_type"]  # without an assignee
    return columns


def _compare(
    kind: str, entry: Entry, row: Row | None, wanted: dict[str, Any], shown: Any
) -> list[Change]:
    if row is None:
        return [Change("add", kind, entry.name, entry, None, wanted)]
    fields = []
    for column, value in wanted.items():
        old = row[column]
        if old != value or isinstance(value, dict | list):
            if canon(old) == canon(value):
                continue
            key = KEY_OF.get(column, column) if kind == "schedule" else column
            fields.append((key, shown(column, old), shown(column, value)))
    if not fields:
        return []
    return [Change("change", kind, entry.name, entry, row, wanted, fields)]


def _shown(present: Present, calendars: Mapping[str, Any], workflows: Mapping[str, Any]) -> Any:
    """Names in place of ids, durations in place of milliseconds."""
    names: dict[Any, str] = {row["id"]: row["name"] for row in present.calendars + present.people}
    names |= {row["id"]: row["title"] for row in present.workflows}
    names |= {id: name for name, id in [*calendars.items(), *workflows.items()]}

    def show(column: str, value: Any) -> Any:
        if value is None:
            return None
        if column in ("interval_ms", "jitter_ms"):
            return spelt(value)
        if isinstance(value, UUID | New):
            return names.get(value, str(value))
        if isinstance(value, datetime | date):
            return value.isoformat()
        return value

    return show


def _gone(wanted: Wanted, present: Present, matched: Mapping[str, Any]) -> list[Row]:
    if wanted.project is None:
        raise LfSqlError(
            "--prune takes away what the project's file made before, and no file says project:",
            "write project: NAME at the top of the file",
        )
    stays = {row["id"] for row in matched["schedule"].values() if row}
    return [
        row
        for row in present.schedules
        if row["project"] == wanted.project and row["id"] not in stays
    ]


def _prune_rest(
    plan: Plan,
    wanted: Wanted,
    present: Present,
    workflows: Mapping[str, Row | None],
    calendars: Mapping[str, Row | None],
    calendar_ids: Mapping[str, Any],
) -> None:
    """Workflows and calendars; whether others still use them, apply asks before it removes them."""
    stay = {row["id"] for row in [*workflows.values(), *calendars.values()] if row}
    said = [_calendar_id(s.calendar, calendar_ids, present) for s in wanted.schedules.values()]
    for entry in wanted.calendars.values():
        said += rules_of.references(rules_of.resolved(entry.wanted["rules"], calendar_ids))
    others = [row for row in present.calendars if row["id"] not in stay]
    used = rules_of.led_to(said, others)
    for row in present.workflows:
        if row["project"] == wanted.project and row["id"] not in stay:
            plan.changes.append(Change("remove", "workflow", row["title"], row=row))
    gone = [c for c in others if c["project"] == wanted.project and str(c["id"]) not in used]
    for row in rules_of.dependents_first(gone):
        plan.changes.append(Change("remove", "calendar", row["name"], row=row))
