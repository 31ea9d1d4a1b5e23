"""A plan for people: what is added, changed from what to what, taken away."""

from __future__ import annotations

import sys
from decimal import Decimal
from typing import Any

import click

from lf_sql.ascode import exact
from lf_sql.ascode.plan import Plan
from lf_sql.plain import plain

MARKS = {"add": ("+", "green"), "change": ("~", "yellow"), "remove": ("-", "red")}
HEADINGS = {"calendar": "calendars", "workflow": "workflows", "schedule": "schedules"}
LONGEST = 100


def text(plan: Plan) -> None:
    """As lines; coloured on a terminal."""
    for kind, heading in HEADINGS.items():
        changes = plan.of(kind, *MARKS)
        if changes:
            click.echo(heading)
        for change in changes:
            mark, colour = MARKS[change.action]
            of = f"  ({change.of})" if change.of is not None and change.of != change.name else ""
            line = plain(f"  {mark} {change.name}{of}")
            click.echo(click.style(line, fg=colour) if sys.stdout.isatty() else line)
            for key, old, new in change.fields:
                click.echo(plain(f"      {key}: {_value(old)} → {_value(new)}"))
    for line in plan.kept:
        click.echo(plain(f"  {line}"))


def summary(plan: Plan, done: bool) -> str:
    """One line."""
    if not plan.changes:
        return "nothing differs"
    words = ("added", "changed", "taken away") if done else ("to add", "to change", "to take away")
    counts = zip(("add", "change", "remove"), words, strict=True)
    return ", ".join(f"{plan.count(action)} {word}" for action, word in counts)


def as_json(plan: Plan, project: str | None, done: bool) -> str:
    """For --json."""
    return exact.shown(
        {
            "project": project,
            "applied": done,
            "added": plan.count("add"),
            "changed": plan.count("change"),
            "removed": plan.count("remove"),
            "changes": [change.as_json() for change in plan.changes],
            "kept": plan.kept,
        },
        default=str,
    )


def _value(value: Any) -> str:
    match value:
        case None:
            return "none"
        case bool():
            return "true" if value else "false"
        case dict() | list():
            shown = exact.dumps(value, ensure_ascii=False, default=str)
        case Decimal():
            shown = exact.digits(value)
        case _:
            shown = str(value)
    return shown if len(shown) <= LONGEST else f"{shown[:LONGEST]}…"
