"""A calendar's rules as people say them."""

from __future__ import annotations

import calendar
from collections.abc import Mapping
from typing import Any

ORDINALS = {1: "first", 2: "second", 3: "third", 4: "fourth", 5: "fifth"}
DAYS = dict(zip(("MON", "TUE", "WED", "THU", "FRI", "SAT", "SUN"), calendar.day_name, strict=True))


def say(rule: Mapping[str, Any], calendars: Mapping[str, str]) -> str:
    """One rule; `calendars` are the names of those that it may refer to."""
    parts = [_kind(rule, calendars)]
    if rule.get("from"):
        parts.append(f"from {rule['from']}")
    if rule.get("until"):
        parts.append(f"until {rule['until']}")
    if rule.get("except"):
        parts.append("except " + "; ".join(say(each, calendars) for each in rule["except"]))
    return ", ".join(parts)


def _kind(rule: Mapping[str, Any], calendars: Mapping[str, str]) -> str:
    if "weekdays" in rule:
        return "every " + ", ".join(DAYS.get(day, day) for day in rule["weekdays"])
    if "month_day" in rule:
        month, _, day = rule["month_day"].partition("-")
        moved = ", moved off weekends" if rule.get("observed") else ""
        return f"{int(day)} {calendar.month_name[int(month)]} of every year{moved}"
    if "nth" in rule:
        return _nth(rule["nth"])
    for key, name in (("easter", "Easter"), ("orthodox_easter", "Orthodox Easter")):
        if key in rule:
            return f"{name} Sunday" if rule[key] == 0 else _away(rule[key], name)
    return f"all dates of {calendars.get(rule.get('calendar', ''), 'another calendar')}"


def _away(days: int, name: str) -> str:
    unit = "day" if abs(days) == 1 else "days"
    return f"{abs(days)} {unit} {'before' if days < 0 else 'after'} {name} Sunday"


def _nth(nth: Mapping[str, Any]) -> str:
    n = nth["n"]
    place = ORDINALS[abs(n)] if n > 0 else ("last" if n == -1 else f"{ORDINALS[-n]} to last")
    month = calendar.month_name[nth["month"]] if nth.get("month") else "every month"
    return f"the {place} {DAYS.get(nth['weekday'], nth['weekday'])} of {month}"
