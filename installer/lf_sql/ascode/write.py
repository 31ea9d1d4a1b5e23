"""A tenant's calendars, workflows and schedules as a file whose `apply` is no change."""

from __future__ import annotations

import re
from collections import Counter
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import yaml

from lf_sql.ascode import calendars, keys
from lf_sql.ascode.calendars import Row
from lf_sql.ascode.exact import digits
from lf_sql.ascode.present import Present
from lf_sql.ascode.source import _RESOLVERS
from lf_sql.durations import spelt
from lf_sql.plain import plain_lines

PLAIN = ("description", "on_holiday", "timezone")


class Dumper(yaml.SafeDumper):
    """Quotes whatever YAML 1.1 or we would read as something else; lists indented, no aliases."""

    def ignore_aliases(self, data: Any) -> bool:
        return True

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        super().increase_indent(flow, False)


for _name, _pattern, _first in _RESOLVERS:
    Dumper.add_implicit_resolver(f"tag:yaml.org,2002:{_name}", _pattern, list(_first))


def _text(dumper: yaml.SafeDumper, value: str) -> yaml.Node:
    """Several lines as a block, where a block keeps them."""
    style = None
    if plain_lines(value) != value:
        style = '"'  # where escapes are read
    elif "\n" in value and not re.search(r"[^\x20-\x7e\n\xa1-\ud7ff]|[ ]\n|^\s|\n\n$", value):
        style = "|"
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=style)


def _number(dumper: yaml.SafeDumper, value: Decimal | float) -> yaml.Node:
    """Plain digits, which read back equal."""
    text = digits(value if isinstance(value, Decimal) else Decimal(repr(value)))
    kind = "float" if "." in text else "int"
    return dumper.represent_scalar(f"tag:yaml.org,2002:{kind}", text)


Dumper.add_representer(str, _text)
Dumper.add_representer(Decimal, _number)
Dumper.add_representer(float, _number)


def dump(value: Any) -> str:
    """YAML of plain values; characters that are unsafe on a terminal are escaped."""
    text = yaml.dump(
        value,
        Dumper=Dumper,
        sort_keys=False,
        allow_unicode=True,
        width=100,
        default_flow_style=None,
    )
    return plain_lines(text)


def document(present: Present, tenant: str) -> dict[str, Any]:
    """All of it; what has no name of its own stands under its id."""
    names = {row["id"]: row["name"] for row in present.calendars}
    own = [row for row in present.calendars if not row["is_seed"]]
    hidden = {row["name"] for row in own}
    for row in present.calendars:  # a seed that the tenant's own hides is named by its id
        if row["is_seed"] and row["name"] in hidden:
            names[row["id"]] = str(row["id"])
    called = Counter((row["kind"], row["name"]) for row in present.people)
    people = {
        row["id"]: row["name"]
        if called[row["kind"], row["name"]] == 1 and keys.as_id(row["name"]) is None and row["name"]
        else str(row["id"])
        for row in present.people
    }
    titles = Counter(row["title"] for row in present.workflows)
    found: dict[str, Any] = {"tenant": tenant}
    if own:
        found["calendars"] = {row["name"]: _calendar(row, names) for row in own}
    workflows = {}
    for row in present.workflows:
        title = row["title"]
        has_name = titles[title] == 1 and keys.as_id(title) is None
        item: dict[str, Any] = {} if has_name else {"title": title}
        item |= {"kind": row["kind"], "status": row["status"], "definition": row["definition"]}
        schedules = {
            s["name"] if s["name"] is not None else str(s["id"]): _schedule(s, names, people)
            for s in present.schedules
            if s["workflow_id"] == row["id"]
        }
        if schedules:
            item["schedules"] = schedules
        workflows[title if has_name else str(row["id"])] = item
    if workflows:
        found["workflows"] = workflows
    return found


def _calendar(row: Row, names: dict[Any, str]) -> dict[str, Any]:
    item: dict[str, Any] = {"kind": row["kind"], "timezone": row["timezone"]}
    if row["dates"]:
        item["dates"] = [str(day) for day in row["dates"]]
    if row["rules"]:
        called = {str(id): name for id, name in names.items()}
        item["rules"] = calendars.renamed(row["rules"], lambda said: called.get(said, said))
    return item


def _schedule(row: Row, names: dict[Any, str], people: dict[Any, str]) -> dict[str, Any]:
    item: dict[str, Any] = {}
    match row["schedule_type"]:
        case "interval":
            item["every"] = spelt(row["interval_ms"])
        case "once":
            item["at"] = _instant(row["run_at"])
        case _:
            item["cron"] = row["cron_expr"]
    for key, (column, _) in keys.SCHEDULE.items():
        value = row[column]
        if key in ("cron", "every", "at", "was") or value is None:
            continue
        match key:
            case "window":
                pass
            case "calendar":
                item[key] = names[value]
            case "agent" | "team":
                if row["assignee_type"] == key:
                    item[key] = people.get(value, str(value))
            case "jitter":
                if value:
                    item[key] = spelt(value)
            case "enabled":
                if not value and row["paused_at"] is None:
                    item[key] = False
            case "assignment":
                item[key] = str(value)
            case _:
                if value != keys.DEFAULTS.get(column):
                    item[key] = value
    window = {
        key: _instant(row[f"{key}_at"]) for key in keys.WINDOW if row[f"{key}_at"] is not None
    }
    if window:
        item["window"] = window
    return item


def _instant(value: datetime) -> str:
    return value.astimezone(UTC).isoformat().replace("+00:00", "Z")
