"""What a statement's nested statements did, from the plans that auto_explain reports."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from tests.support.database import Database

SETTINGS = {
    "auto_explain.log_min_duration": "0",
    "auto_explain.log_analyze": "on",
    "auto_explain.log_timing": "off",
    "auto_explain.log_nested_statements": "on",
    "auto_explain.log_format": "json",
    "client_min_messages": "log",
}


def compared(db: Database, query: str, params: list[Any]) -> dict[str, int]:
    """Row pairs that each nested statement compared by a join's filter and threw away."""
    found: dict[str, int] = {}
    with db.another() as other:
        other.execute("load 'auto_explain'")
        for name, value in SETTINGS.items():
            other.execute("select set_config(%s, %s, false)", [name, value])
        notices: list[str] = []
        other.add_notice_handler(lambda notice: notices.append(notice.message_primary or ""))
        other.execute(query, params)
    for notice in notices:
        _, is_plan, text = notice.partition("plan:\n")
        if is_plan:
            plan = json.loads(text)
            removed = sum(
                node.get("Rows Removed by Join Filter", 0) * node["Actual Loops"]
                for node in _nodes(plan["Plan"])
            )
            found[plan["Query Text"]] = max(removed, found.get(plan["Query Text"], 0))
    return found


def _nodes(node: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield node
    for child in node.get("Plans", []):
        yield from _nodes(child)
