"""What the files want: calendars, workflows and schedules, each value still with its position."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date
from typing import Any
from uuid import UUID

from lf_sql.ascode import keys
from lf_sql.ascode.source import Value, kind_of


@dataclass
class Entry:
    """One named thing of the file. `wanted` is by column; None of a workflow's are kept."""

    name: str
    at: Value
    wanted: dict[str, Any]
    was: str | None = None
    id: UUID | None = None  # the key was an id: the row has no name of its own


@dataclass
class Schedule(Entry):
    """A schedule; what it points at is still by name."""

    workflow: str = ""
    calendar: str | None = None
    assignee: tuple[str, str] | None = None  # agent or team, and its name or id


@dataclass
class Wanted:
    """All of the files together."""

    project: str | None = None
    tenant: Value | None = None
    calendars: dict[str, Entry] = field(default_factory=dict)
    workflows: dict[str, Entry] = field(default_factory=dict)
    schedules: dict[str, Schedule] = field(default_factory=dict)


def merge(files: list[Value]) -> Wanted:
    """All files in one; refuses what two of them define differently, or twice."""
    wanted = Wanted()
    named: dict[str, Value] = {}
    for top in files:
        keys.known(top, keys.TOP, "the file")
        for key in ("project", "tenant"):
            if key not in top.value:
                continue
            said = top.value[key]
            other = named.setdefault(key, said)
            if keys.text(other) != keys.text(said):
                raise said.wrong(
                    f'this is "{keys.text(said)}", but "{keys.text(other)}" in '
                    f"{other.file}:{other.line}",
                    f"one apply is for one {key}",
                )
        for said_name, item in _part(top, "calendars"):
            name = keys.calendar_name(said_name)
            _once(wanted.calendars, name, item)
            wanted.calendars[name] = _calendar(name, item)
        for said_name, item in _part(top, "workflows"):
            name = keys.folded(said_name)
            _once(wanted.workflows, name, item)
            wanted.workflows[name] = _workflow(name, item)
            for said_name, one in _part(item, "schedules"):
                schedule_name = keys.folded(said_name)
                one = _at(one, f"schedules.{said_name}")
                _once(wanted.schedules, schedule_name, one)
                wanted.schedules[schedule_name] = _schedule(schedule_name, name, one)
    wanted.project = keys.text(named["project"]).strip() if "project" in named else None
    wanted.tenant = named.get("tenant")
    for kind in (wanted.calendars, wanted.workflows, wanted.schedules):
        _check_renames(kind)
    return wanted


def _part(value: Value, key: str) -> list[tuple[str, Value]]:
    if not isinstance(value.value, dict) or key not in value.value:
        return []
    part = value.value[key]
    return [] if part.value is None else list(part.items())


def _at(value: Value, path: str) -> Value:
    """The same with a shorter path: names of schedules are the tenant's, not the workflow's."""
    old = value.path
    inner = value.value
    if isinstance(inner, dict):
        inner = {k: _at(v, path + v.path.removeprefix(old)) for k, v in inner.items()}
    elif isinstance(inner, list):
        inner = [_at(v, path + v.path.removeprefix(old)) for v in inner]
    return Value(inner, value.file, value.line, path)


def _once(there: dict[str, Any], name: str, item: Value) -> None:
    if name in there:
        first = there[name].at
        raise item.wrong(
            f"this is there twice, first in {first.file}:{first.line}",
            "names are unique to the tenant: choose another",
        )


def _body(item: Value) -> Value:
    return Value({}, item.file, item.line, item.path) if item.value is None else item


def _was(item: Value) -> str | None:
    return keys.text(item.value["was"]) if "was" in item.value else None


def _check_renames(entries: dict[str, Any]) -> None:
    taken: dict[str, Entry] = {}
    for entry in entries.values():
        if entry.was is not None:
            other = taken.setdefault(entry.was, entry)
            if other is not entry:
                raise entry.at.wrong(
                    f'"{other.name}" was "{entry.was}" too', "only one of the two can have been it"
                )


def _calendar(name: str, item: Value) -> Entry:
    item = _body(item)
    keys.known(item, keys.CALENDAR, "a calendar")
    get = item.value.get
    wanted: dict[str, Any] = {
        "kind": keys.text(get("kind")) if "kind" in item.value else "skip_dates",
        "timezone": keys.text(get("timezone")) if "timezone" in item.value else "UTC",
        "dates": [],
        "rules": keys.READ["list"](get("rules")) if "rules" in item.value else [],
    }
    if "dates" in item.value:
        keys.READ["list"](get("dates"))
        wanted["dates"] = sorted({_date(value) for value in get("dates").value})
    was = _was(item)
    return Entry(name, item, wanted, None if was is None else keys.calendar_name(was))


def _date(value: Value) -> date:
    try:
        return date.fromisoformat(keys.text(value))
    except ValueError:
        raise value.wrong(f"this is {kind_of(value.value)}; no date", "write 2026-12-24") from None


def _workflow(name: str, item: Value) -> Entry:
    item = _body(item)
    keys.known(item, keys.WORKFLOW, "a workflow")
    found = item.value
    own_id = keys.as_id(name)
    if "title" in found and own_id is None:
        raise found["title"].wrong(
            "the key is the title already", "title: goes with a workflow whose key is its id"
        )
    wanted: dict[str, Any] = {
        key: keys.text(found[key]) for key in ("kind", "status") if key in found
    }
    if wanted.get("status") == "deleted":
        raise found["status"].wrong(
            "a file does not delete by status", "leave the workflow out and apply with --prune"
        )
    if own_id is None:
        wanted["title"] = name
    elif "title" in found:
        wanted["title"] = keys.text(found["title"])
    if "definition" in found:
        wanted["definition"] = keys.READ["object"](found["definition"])
    return Entry(name, item, wanted, _was(item), own_id)


def _schedule(name: str, workflow: str, item: Value) -> Schedule:
    item = _body(item)
    keys.known(item, keys.SCHEDULE, "a schedule")
    wanted: dict[str, Any] = {"workflow_id": None, **dict.fromkeys(_COLUMNS), **keys.DEFAULTS}
    given = {
        key: keys.READ[keys.SCHEDULE[key][1]](value)
        for key, value in item.value.items()
        if value.value is not None
    }
    rules = [key for key in ("cron", "every", "at") if key in given]
    if len(rules) != 1:
        raise item.wrong(
            "a schedule has one of cron, every and at" + (f", not {_and(rules)}" if rules else ""),
            'for example cron: "0 9 * * 1-5"',
        )
    if "agent" in given and "team" in given:
        raise item.wrong("a schedule has one assignee", "give agent or team")
    for key, value in given.items():
        if key not in ("window", "calendar", "agent", "team", "was"):
            wanted[keys.SCHEDULE[key][0]] = value
    if "window" in given:
        window = item.value["window"]
        keys.known(window, keys.WINDOW, "a window")
        for key, value in window.value.items():
            wanted[f"{key}_at"] = None if value.value is None else keys.instant(value)
    if "at" in given:
        wanted["run_at"] = given["at"].replace(second=0, microsecond=0)
    wanted["schedule_type"] = {"cron": "cron", "every": "interval", "at": "once"}[rules[0]]
    wanted["inputs_rotation"] = wanted["inputs_rotation"] or None
    own_id = keys.as_id(name)
    wanted["name"] = name if own_id is None else None
    who = next(((kind, given[kind]) for kind in ("agent", "team") if kind in given), None)
    if who:
        wanted["assignee_type"] = who[0]
    calendar = keys.calendar_name(given["calendar"]) if "calendar" in given else None
    return Schedule(name, item, wanted, _was(item), own_id, workflow, calendar, who)


_COLUMNS = [
    *("schedule_type", "start_at", "end_at"),
    *(column for column, _ in keys.SCHEDULE.values()),
]


def _and(words: list[str]) -> str:
    return ", ".join(words[:-1]) + " and " + words[-1]
