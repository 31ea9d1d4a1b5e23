"""Options that other documentation of these commands names: they work, and no help shows them."""

from __future__ import annotations

import pytest

from tests.support.command import Command
from tests.support.database import Database


def test_each_does_what_the_argument_does(lf: Command, workflow: str, db: Database) -> None:
    lf("schedule", "create", "--workflow", "Nightly report", "--cron", "0 9 * * *", "--name", "s")
    lf("schedule", "calendar", "create", "--name=closing", "--dates", "2026-12-24")
    lf("schedule", "calendar", "attach", "--calendar", "closing", "s")
    lf("schedule", "condition", "set", "s", "--filter", '{"/a": {"eq": 1}}')
    lf("schedule", "rotation", "set", "s", "--inputs", '[{"a": 1}]')
    row = db.row(
        "select s.pre_dispatch_condition as c, s.inputs_rotation as r, c.name "
        "from lenses.workflow_schedules s join lenses.schedule_calendars c on c.id = s.calendar_id"
    )
    assert tuple(row) == ({"/a": {"eq": 1}}, [{"a": 1}], "closing")
    names = {row["name"] for row in lf("schedule", "calendar", "list", "--seeds-only").rows}
    assert "closing" not in names and "weekends-only" in names


def test_an_alias_without_its_value(lf: Command, workflow: str) -> None:
    said = lf("schedule", "create", "--cron", "0 9 * * *", "--workflow", code=2).err
    assert "requires an argument" in said


@pytest.mark.parametrize(
    ("words", "option"),
    [
        (("schedule", "create"), "--workflow"),
        (("schedule", "calendar", "create"), "--name"),
        (("schedule", "calendar", "attach"), "--calendar"),
        (("schedule", "calendar", "list"), "--seeds-only"),
        (("schedule", "condition", "set"), "--filter"),
        (("schedule", "rotation", "set"), "--inputs"),
    ],
)
def test_none_is_shown(lf: Command, words: tuple[str, ...], option: str) -> None:
    assert f"{option} " not in lf(*words, "--help").out
