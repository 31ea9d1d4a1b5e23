"""The JSON Schema says what the file takes: no key more, no key less, in the file and in the database."""

from __future__ import annotations

import json
from importlib import resources
from typing import Any

import psycopg
import pytest

from lf_sql.ascode import keys
from tests.support.command import Command
from tests.support.database import Database
from tests.surface.conftest import File

pytestmark = pytest.mark.usefixtures("owner")

SCHEMA: dict[str, Any] = json.loads(
    resources.files("lf_sql.ascode").joinpath("schema.json").read_text(encoding="utf-8")
)
PARTS = SCHEMA["$defs"]
SCHEDULE = PARTS["schedule"]["properties"]


@pytest.mark.parametrize(
    ("part", "known"),
    [
        (SCHEMA, keys.TOP),
        (PARTS["calendar"], keys.CALENDAR),
        (PARTS["workflow"], keys.WORKFLOW),
        (PARTS["schedule"], tuple(keys.SCHEDULE)),
        (SCHEDULE["window"], keys.WINDOW),
    ],
)
def test_every_key_of_the_file(part: dict[str, Any], known: tuple[str, ...]) -> None:
    assert set(part["properties"]) == set(known)
    assert part["additionalProperties"] is False


def said_by(db: Database, query: str) -> set[str]:
    """The keys that the database names where it refuses one that it does not know."""
    with pytest.raises(psycopg.Error) as caught:
        db.execute(query)
    hint = caught.value.diag.message_hint or ""
    assert hint.startswith("Known keys: "), hint
    return set(hint.removeprefix("Known keys: ").rstrip(".").split(", "))


@pytest.mark.parametrize("policy", ["approval", "retry", "failure", "queue"])
def test_every_key_of_a_policy(db: Database, policy: str) -> None:
    known = said_by(db, f"select lenses.fn_check_{policy}_policy('{{\"nothing of the kind\": 1}}')")
    assert set(SCHEDULE[policy]["properties"]) == known


def allowed(rule: dict[str, Any]) -> list[Any]:
    """Values that the schema allows: the ends of ranges, each word."""
    if "enum" in rule:
        return list(rule["enum"])
    if rule["type"] == "integer":
        return [rule["minimum"], rule["maximum"]]
    if rule["type"] == "array":
        return [[word] for word in rule["items"].get("enum", ["x"])]
    return {"boolean": [True, False], "string": ["0b4e7a3c-9d51-4c1e-8a61-2f0d7c5b9e13"]}[
        rule["type"]
    ]


@pytest.mark.parametrize("policy", ["approval", "retry", "failure", "queue"])
def test_values_of_a_policy(db: Database, policy: str) -> None:
    for key, rule in SCHEDULE[policy]["properties"].items():
        needs = {"mode": "fallback"} if key == "fallbackAssigneeId" else {}
        for value in allowed(rule):
            if value == "fallback":
                continue
            db.execute(
                f"select lenses.fn_check_{policy}_policy(%s::jsonb)",
                [json.dumps({key: value, **needs})],
            )
        if rule.get("type") == "integer":
            for beyond in (rule["minimum"] - 1, rule["maximum"] + 1):
                with pytest.raises(psycopg.Error):
                    db.execute(
                        f"select lenses.fn_check_{policy}_policy(%s::jsonb)",
                        [json.dumps({key: beyond})],
                    )


def test_every_column_that_a_user_sets(db: Database) -> None:
    known = said_by(
        db,
        "select lenses.fn_patch_schedule_row(null, '{\"nothing of the kind\": 1}', 'patch')",
    )
    columns = {column for column, _ in keys.SCHEDULE.values()}
    assert known - columns == {"schedule_type", "assignee_type", "end_at"}
    assert columns <= known


def test_it_is_printed(lf: Command) -> None:
    assert lf("apply", "--schema").json == SCHEMA


def test_a_file_that_says_all(lf: Command, file: File, db: Database) -> None:
    """Each key of a schedule that the schema has is taken by apply."""
    db.execute(
        "insert into agents.ai_lensers (lenser_id, name) select id, 'ada' from lensers.profiles;"
        "insert into agents.teams (lenser_id, name) select id, 'crew' from lensers.profiles"
    )
    rest: dict[str, Any] = {
        "timezone": "Europe/Rome", "calendar": "weekends-only", "on_holiday": "skip", "window": {"start": "2026-01-01T00:00Z", "end": "2030-01-01T00:00+02:00"},
        "jitter": "30s", "enabled": False, "description": "d", "approval": {"requiresApproval": False}, "retry": {"maxRetries": 0},
        "failure": {"mode": "halt"}, "queue": {"mode": "serial"}, "inputs": {"a": 1}, "rotation": [{"a": 1}], "condition": {"/prior_run_result": {"neq": None}},
        "model": "m", "version": 1, "was": "nothing",
    }  # fmt: skip
    schedules = {
        "a": {"cron": "0 1 * * *", "agent": "ada", **rest},
        "b": {"every": "6h", "team": "crew", **rest},
        "c": {"at": "2027-01-01T00:00Z", **rest},
    }
    schedules["b"]["was"] = "nothing else"
    schedules["c"]["was"] = "nothing at all"
    said = {key for schedule in schedules.values() for key in schedule}
    assert said == set(SCHEDULE) - {"assignment"}
    name = file(json.dumps({"workflows": {"W": {"definition": {}, "schedules": schedules}}}))
    lf("apply", name)
    assert "nothing differs" in lf("apply", name).err
