"""What the rules of calendars refer to, and the order in which calendars come. Pure."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any
from uuid import UUID

from lf_sql.ascode import keys
from lf_sql.ascode.model import Entry

Row = dict[str, Any]


def renamed(rules: Any, called: Callable[[Any], Any]) -> Any:
    """The rules with `called(name)` in place of each calendar that they name."""
    match rules:
        case list():
            return [renamed(rule, called) for rule in rules]
        case dict():
            return {
                key: called(value)
                if key == "calendar" and not isinstance(value, list | dict)
                else renamed(value, called)
                for key, value in rules.items()
            }
    return rules


def resolved(rules: Any, ids: Mapping[str, Any]) -> Any:
    """The rules of a file with the ids of calendars in place of their names, spelt as they are."""

    def id_of(said: Any) -> Any:
        if not isinstance(said, str):
            return said
        name = keys.calendar_name(said)
        return ids.get(name, keys.folded(name))

    return renamed(rules, id_of)


def references(rules: Any) -> set[Any]:
    """What the rules name: ids as text or UUIDs, or whatever stands for a calendar to come."""
    found: set[Any] = set()
    renamed(rules, lambda said: found.add(said))
    return found


def in_order(entries: Mapping[str, Entry], rows: Mapping[str, Row | None]) -> dict[str, Row | None]:
    """The rows by name, calendars after those that their rules name. LfSqlError for a circle."""
    done: dict[str, Row | None] = {}
    names = {name: name for name in entries}

    def visit(name: str, above: tuple[str, ...]) -> None:
        if name in above:
            raise entries[name].at.wrong("calendars refer to one another in a circle")
        if name not in done:
            others = references(resolved(entries[name].wanted["rules"], names))
            for other in sorted(others & names.keys()):
                visit(other, (*above, name))
            done[name] = rows[name]

    for name in rows:
        visit(name, ())
    return done


def dependents_first(rows: Collection[Row]) -> list[Row]:
    """Calendars before those that their rules name, as they can be deleted one by one."""
    by_id = {str(row["id"]): row for row in rows}
    found: dict[str, Row] = {}

    def visit(key: str) -> None:
        if key not in found:
            for other in sorted(_ids(by_id[key]["rules"]) & by_id.keys()):
                visit(other)
            found[key] = by_id[key]

    for key in reversed(by_id):
        visit(key)
    return list(reversed(found.values()))


def led_to(used: Iterable[Any], rows: Iterable[Row]) -> set[str]:
    """The ids that are used, those that the rules of the rows so used name, and so on."""
    links = {str(row["id"]): _ids(row["rules"]) for row in rows}
    found: set[str] = set()
    waiting = [str(one) for one in used]
    while waiting:
        one = waiting.pop()
        if one not in found:
            found.add(one)
            waiting += links.get(one, ())
    return found


def _ids(rules: Any) -> set[str]:
    return {str(one) for one in references(rules) if isinstance(one, str | UUID)}
