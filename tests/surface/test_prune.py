"""--prune and what a definition's triggers registered: a part of the workflow, not a reason to stay."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from tests.support.command import Command
from tests.support.database import Database, Tenant
from tests.support.work import run_now
from tests.surface.conftest import File

pytestmark = pytest.mark.usefixtures("owner")


def shop(**trigger: object) -> str:
    """A workflow whose definition registers a schedule, and a calendar."""
    one = {"id": "nightly", "type": "schedule_based", "cron_expr": "0 3 * * *", **trigger}
    definition = {"nodes": [{"id": "a"}], "edges": [], "triggers": [one]}
    return (
        "project: shop\ncalendars:\n  closing: {dates: [2026-12-24]}\n"
        f"workflows:\n  T:\n    definition: {json.dumps(definition)}\n"
    )


def test_a_workflow_goes_with_the_schedules_of_its_triggers(
    lf: Command, file: File, db: Database, owner: Tenant
) -> None:
    lf("apply", file(shop()))
    calendar = db.value("select id from lenses.schedule_calendars where not is_seed")
    lf("apply", file(shop(calendar_id=str(calendar))))
    schedule = db.value(
        "select id from lenses.workflow_schedules where calendar_id = %s", [calendar]
    )
    run = run_now(db, owner, schedule)
    empty = file("project: shop\nworkflows: {}\n")
    assert lf("diff", empty, "--prune", code=1).out.split() == [
        *("calendars", "-", "closing", "workflows", "-", "T"),
    ]
    said = lf("apply", empty, "--prune", "--yes")
    assert "stays" not in said.out
    assert "2 taken away" in said.err
    assert db.value("select status from lenses.workflows") == "deleted"
    assert db.value("select count(*) from lenses.workflow_schedules") == 0
    assert db.value("select count(*) from lenses.schedule_calendars where not is_seed") == 0
    assert db.value("select id from lenses.workflow_runs") == run
    assert "nothing differs" in lf("diff", empty, "--prune").err


def test_a_schedule_made_by_hand_keeps_it(lf: Command, file: File, db: Database) -> None:
    lf("apply", file(shop()))
    lf("schedule", "create", "T", "--name", "by hand", "--cron", "0 1 * * *")
    said = lf("apply", file("project: shop\n"), "--prune", "--yes")
    assert "workflow T stays: schedules that the project did not make have it (by hand)" in said.out
    assert db.value("select count(*) from lenses.workflow_schedules") == 2


def test_a_calendar_that_a_trigger_has_stays_with_its_workflow(
    lf: Command, file: File, db: Database
) -> None:
    lf("apply", file(shop()))
    calendar = db.value("select id from lenses.schedule_calendars where not is_seed")
    has_it = shop(calendar_id=str(calendar))
    lf("apply", file(has_it))
    without = has_it.replace("calendars:\n  closing: {dates: [2026-12-24]}\n", "")
    assert "calendar closing stays" in lf("apply", file(without), "--prune", "--yes").out
    assert db.value("select count(*) from lenses.workflow_schedules") == 1


def calendars(**rules: str) -> str:
    """A file of the project: calendars with one date, and those that the rules of each name."""
    lines = [
        f"  {name}: {{dates: [2026-12-24], rules: [{', '.join(f'{{calendar: {one}}}' for one in names.split())}]}}"
        for name, names in rules.items()
    ]
    return "\n".join(["project: shop", "calendars:" if lines else "calendars: {}", *lines, ""])


def there(db: Database) -> str:
    return " ".join(
        db.column("select name from lenses.schedule_calendars where not is_seed order by name")
    )


@pytest.mark.parametrize(
    "rules",
    [{"a": "b", "b": ""}, {"b": "a", "a": ""}, {"c": "a b", "b": "a", "a": ""}],
    ids=["after", "before", "three"],
)
def test_calendars_that_refer_to_one_another_go_together(
    lf: Command, file: File, db: Database, rules: dict[str, str]
) -> None:
    lf("apply", file(calendars(**rules)))
    empty = file(calendars())
    assert lf("diff", empty, "--prune", code=1).err.startswith(
        f"0 to add, 0 to change, {len(rules)}"
    )
    lf("apply", empty, "--prune", "--yes")
    assert there(db) == ""


def test_a_calendar_that_a_rule_of_the_file_names_stays(
    lf: Command, file: File, db: Database
) -> None:
    lf("apply", file(calendars(b="a", a="z", z="", y="")))
    only_b = file(calendars(b="a"))
    assert lf("diff", only_b, "--prune", code=1).out.split() == ["calendars", "-", "y"]
    lf("apply", only_b, "--prune", "--yes")
    assert there(db) == "a b z"
    assert "nothing differs" in lf("diff", only_b, "--prune").err


@pytest.mark.parametrize("spelt", [str.lower, str.upper], ids=["small", "capital"])
def test_a_calendar_that_one_made_by_hand_names_stays(
    lf: Command, file: File, db: Database, spelt: Callable[[str], str]
) -> None:
    lf("apply", file(calendars(b="a", a="", c="")))
    found = db.value("select id::text from lenses.schedule_calendars where name = 'b'")
    rules = json.dumps([{"weekdays": ["SUN"], "except": [{"calendar": spelt(found)}]}])
    lf("schedule", "calendar", "create", "hand", "--rules", rules)
    said = lf("apply", file(calendars()), "--prune", "--yes").out
    assert "calendar b stays: calendars that stay refer to it (hand)" in said
    assert "calendar a stays: calendars that stay refer to it (b)" in said
    assert there(db) == "a b hand"
