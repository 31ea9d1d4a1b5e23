"""Calendars by name and by id: blanks around a name and capitals of an id are no difference."""

from __future__ import annotations

import pytest

from tests.support.command import Command
from tests.support.database import Database
from tests.surface.conftest import File

pytestmark = pytest.mark.usefixtures("owner")
ID = "ca1e0da0-0000-4000-8000-000000000001"  # of a seed
BLANKS = """\
calendars:
  ' a ': {dates: [2026-12-24]}
  b: {rules: [{weekdays: [SUN], except: [{calendar: ' a'}]}]}
workflows:
  W:
    schedules:
      s: {every: 6h, calendar: 'a '}
"""


def test_blanks_around_a_name(lf: Command, file: File, db: Database) -> None:
    lf("apply", file(BLANKS))
    for same in (BLANKS, BLANKS.replace("' a '", "a"), BLANKS.replace("' a'", "a  ")):
        assert "nothing differs" in lf("diff", file(same)).err
        assert "nothing differs" in lf("apply", "a.yaml").err
    renamed = "calendars:\n  z: {dates: [2026-12-24], was: ' a '}\n"
    lf("apply", file(renamed))
    assert db.value("select count(*) from lenses.schedule_calendars where name = 'z'") == 1


def test_a_name_with_blanks_and_the_same_without(lf: Command, file: File) -> None:
    twice = "calendars:\n  a: {dates: [2026-12-24]}\n  ' a': {dates: [2026-12-24]}\n"
    assert "a.yaml:3: calendars. a: this is there twice" in lf("apply", file(twice), code=1).err


@pytest.mark.parametrize("spelt", [ID, ID.upper()], ids=["small", "capital"])
def test_the_case_of_an_id(lf: Command, file: File, spelt: str) -> None:
    text = f"calendars:\n  c: {{rules: [{{calendar: {spelt}}}, {{weekdays: [SUN], except: [{{calendar: {spelt}}}]}}]}}\n"
    lf("apply", file(text))
    exported = file(lf("export", "--yaml").out, "b.yaml")
    assert ID.upper() not in exported
    for other in ("a.yaml", exported, file(text.replace(spelt, ID), "c.yaml")):
        assert "nothing differs" in lf("diff", other).err


def test_the_case_of_ids_elsewhere(lf: Command, file: File, db: Database) -> None:
    agent = db.value(
        "insert into agents.ai_lensers (lenser_id, name) select id, 'x' from lensers.profiles "
        "returning id::text"
    )
    workflow = lf("workflow", "create", "W").first
    made = lf("schedule", "create", "W", "--every", "6h", "--calendar", ID, "--agent", agent)
    text = (
        f"workflows:\n  {workflow}:\n    title: W\n    schedules:\n"
        f"      {made.first}: {{every: 6h, calendar: {ID}, agent: {agent}}}\n"
    )
    for same in (
        text,
        *(text.replace(one, one.upper()) for one in (workflow, made.first, ID, agent)),
    ):
        assert "nothing differs" in lf("diff", file(same)).err
    both = text + f"  {workflow.upper()}: {{title: W}}\n"
    assert "this is there twice" in lf("diff", file(both), code=2).err
