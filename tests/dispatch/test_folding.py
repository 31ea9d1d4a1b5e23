"""A fold of counts, and their purge, compare no row of a pile with every other."""

from __future__ import annotations

import pytest

from tests.support.plans import compared
from tests.support.scenario import Scenario

PILE = 1000
FOLD = "select lenses.fn_fold_run_counts(%s, %s)"
PURGE = "select lenses.fn_purge_run_counts(10)"


def pile(scenario: Scenario, age: str, spread: str) -> None:
    """As many changes as one fold takes, of tables that nobody has analyzed."""
    scenario.db.execute(
        "insert into lenses.run_counts (lenser_id, workflow_id, instant, total) "
        "select %s, %s, now() - %s::interval - n * %s::interval, 1 from generate_series(1, %s) as n",
        [scenario.tenant.id, scenario.workflow, age, spread, PILE],
    )


def left(scenario: Scenario) -> dict[int, int]:
    """Grains, and the runs that each counts."""
    return dict(
        scenario.db.rows("select grain, sum(total)::int from lenses.run_counts group by grain")
    )


def check(found: dict[str, int]) -> None:
    assert {text: n for text, n in found.items() if n > PILE} == {}
    assert any("for update skip locked" in text for text in found), "the plans are seen"


@pytest.mark.parametrize("spread", ["0", "1 second"], ids=["one instant", "many instants"])
def test_a_pile_is_folded(scenario: Scenario, committed: None, spread: str) -> None:
    pile(scenario, "1 hour", spread)
    found = compared(scenario.db, FOLD, [scenario.tenant.id, scenario.workflow])
    assert left(scenario) == dict.fromkeys((1, 2, 3, 4), PILE)
    scenario.db.execute("delete from lenses.run_counts")  # of no runs
    check(found)


@pytest.mark.parametrize("call", [FOLD, PURGE], ids=["fold", "purge"])
def test_what_is_too_old_goes(scenario: Scenario, committed: None, call: str) -> None:
    pile(scenario, "3 days", "0")
    params = [scenario.tenant.id, scenario.workflow] if call == FOLD else []
    found = compared(scenario.db, call, params)
    assert left(scenario) == {}
    check(found)
