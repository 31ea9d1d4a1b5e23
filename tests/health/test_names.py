"""Whatever names a schedule to people says its name, else its description, else its workflow's title."""

from __future__ import annotations

from typing import Any

import pytest
from psycopg import errors

from tests.support.command import commander
from tests.support.database import Database, as_user
from tests.support.scenario import Scenario

NAMED = {
    "by its name": {"name": "by its name", "description": "described"},
    "by its description": {"name": None, "description": "by its description"},
    "by its title": {"name": None, "description": None},
}


@pytest.mark.parametrize("called", NAMED)
def test_everything_calls_it_so(
    db: Database,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    called: str,
) -> None:
    scenario = Scenario(db)
    workflow = scenario.make_workflow()
    db.execute("update lenses.workflows set title = 'by its title' where id = %s", [workflow])
    calendar = scenario.make_calendar("only_dates", "2020-01-01")
    columns: dict[str, Any] = {"workflow_id": workflow, "calendar_id": calendar, **NAMED[called]}
    schedule = scenario.make_schedule("0 9 29 2 1", start_at=None, **columns)
    lf = commander(capsys, monkeypatch, db.dsn)

    health = lf("schedule", "health", "--json", code=None).json
    details = [line["detail"] for line in health if line.get("schedule_id")]
    assert details and all(detail.startswith(f"{called}: ") for detail in details)

    told = lf("schedule", "explain", schedule, "--at", "2026-01-01T09:00", "--json").json
    assert told["schedule"] == called
    shown = lf("schedule", "explain", schedule, "--at", "2026-01-01T09:00").out
    assert f"\n  schedule      {called}\n" in shown

    found = lf("schedule", "lint").rows
    assert found and {row["schedule"] for row in found} == {called}
    assert called in lf("schedule", "calendar", "show", calendar, "--json").json["schedules"]
    assert {
        row["schedule"] for row in lf("preview", "--from", "2028-02-01", "--days", "31").rows
    } == {called}
    with as_user(db, scenario.tenant, "authenticated") as conn:
        conn.execute("select public.fn_run_workflow_schedule_now(%s)", [schedule])
        conn.execute(
            "select public.fn_backfill_schedule(%s, now() - interval '1 minute')", [schedule]
        )
        with pytest.raises(errors.ForeignKeyViolation) as refused, conn.transaction():
            conn.execute("select public.fn_delete_schedule_calendar(%s)", [calendar])
    assert refused.value.diag.message_detail == f"Schedules that have it: 1 ({called})."
    scenario.set(schedule, calendar_id=None, cron_expr="* * * * *", start_at=None)
    scenario.tick(
        db.value("select next_run_at from lenses.workflow_schedules where id = %s", [schedule])
    )
    with as_user(db, scenario.tenant, "authenticated") as conn:
        feed = conn.execute(
            "select f.schedule from public.fn_get_automation_feed() as f"
        ).fetchall()
    assert [row[0] for row in feed] == [called]
