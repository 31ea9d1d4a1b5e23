"""A claim whose transaction stays open holds its schedule's due row; no tick waits for it."""

from __future__ import annotations

from datetime import timedelta

from tests.support.database import as_user
from tests.support.scenario import Scenario


def test_a_pause_that_ends_waits_for_no_claim(scenario: Scenario, committed: None) -> None:
    one, other = (
        scenario.make_schedule("0 * * * *", start_at="2020-01-01Z", queue_policy={"mode": "serial"})
        for _ in range(2)
    )
    scenario._insert("lenses.workflow_runs", {"workflow_id": scenario.workflow, "schedule_id": one})
    at = scenario.db.value("select date_trunc('hour', now()) + interval '1 hour 1 minute'")
    for schedule in (one, other):
        scenario.set(schedule, is_active=False, paused_until=at)

    with scenario.db.another() as claimer, scenario.db.another() as ticker:
        with as_user(claimer, None, "service_role"):
            claim = claimer.execute("select from lenses.fn_claim_workflow_runs('w')")
            assert len(claim.fetchall()) == 1
            ticker.execute("set lock_timeout = '1s'")
            ticker.execute("select lenses.fn_dispatch_scheduled_workflows(%s)", [at])
            assert scenario.schedule(other).is_active
            assert not scenario.schedule(one).is_active
            assert scenario.db.column("select note from lenses.dispatch_ticks") == [None]
        ticker.execute(
            "select lenses.fn_dispatch_scheduled_workflows(%s)", [at + timedelta(minutes=1)]
        )
    assert scenario.schedule(one).is_active
