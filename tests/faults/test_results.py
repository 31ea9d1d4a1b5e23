"""Results that the database refuses fail the run at once, with the reason; credits are booked however it ends."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.database import Database, Tenant, wait_until
from tests.support.processes import running
from tests.support.work import make_schedule, make_workflow, run_now

REFUSED = {
    "over 1 MB": ("'\"' + 'x' * 2_000_000 + '\"'", "1048576"),
    "too deep": ("'[' * 100 + ']' * 100", "64"),
    "too many values": ("str(list(range(60_000)))", "50000"),
    "credits out of range": ("'{\"spent_credits\": 1e400}'", "p_spent_credits"),
    "a number out of range": ("'{\"a\": 1e999999}'", "not storable"),
    "NaN": ("'{\"spent_credits\": NaN}'", "no JSON"),
    "infinity": ("'[Infinity]'", "no JSON"),
}


class Bench:
    def __init__(
        self, db: Database, owner: Tenant, retries: int = 0, limit: float | None = None
    ) -> None:
        self.db, self.owner = db, owner
        agent = None
        if limit is not None:
            agent = db.value(
                "insert into agents.ai_lensers (lenser_id, name) values (%s, 'a') returning id",
                [owner.id],
            )
            db.execute(
                "insert into agents.policies (ai_lenser_id, lenser_id, spending_limit_credits) "
                "values (%s, %s, %s)",
                [agent, owner.id, limit],
            )
        policy = f'{{"maxRetries": {retries}, "backoffMs": 0}}'
        self.schedule = make_schedule(
            db, make_workflow(db, owner), retry_policy=policy, assignee_id=agent
        )

    def run(self, script: str) -> tuple[Any, int, str]:
        """A run given to a shell with --once: its row, the exit code, the output."""
        run = run_now(self.db, self.owner, self.schedule)
        with running(self.db.dsn, "runs", "work", "--once", "--", "sh", "-c", script) as process:
            code = process.ends(60)
            row = self.db.row("select * from lenses.workflow_runs where id = %s", [run])
            return row, code, process.output


@pytest.fixture
def bench(db: Database, tenant: Callable[..., Tenant]) -> Callable[..., Bench]:
    return lambda **given: Bench(db, tenant(), **given)


@pytest.mark.parametrize("case", REFUSED)
def test_what_the_database_refuses_fails_the_run_at_once(
    bench: Callable[..., Bench], tmp_path: Path, case: str
) -> None:
    text, reason = REFUSED[case]
    given = tmp_path / "given"
    given.write_text(eval(text))
    row, code, output = bench().run(f"cat {given}")
    assert (row.status, code) == ("failed", 1), output
    result = row.metadata["result"]
    assert result["cause"] == "contract_violated"
    assert reason in result["error"], result
    assert "0 completed, 1 failed\n" in output and "Traceback" not in output
    assert row.spent_credits == 0


@pytest.mark.parametrize(
    ("script", "cause"),
    [
        ("echo '{\"spent_credits\": 3}'; exit 1", "provider_error"),
        ("echo '{\"spent_credits\": 3}'; kill -9 $$", "provider_error"),
        (
            f"exec {sys.executable} -c \"print('{{\\\"spent_credits\\\": 3, \\\"x\\\":' + '['*99 + ']'*99 + '}}')\"",
            "contract_violated",
        ),
    ],
)
def test_what_a_failing_command_has_spent_is_booked(
    bench: Callable[..., Bench], script: str, cause: str
) -> None:
    row, code, output = bench(retries=1).run(script)
    assert (row.status, row.attempt, code) == ("failed", 2, 1), output
    assert row.metadata["result"]["cause"] == cause
    assert row.spent_credits == 6


def test_a_limit_that_is_passed_is_booked_not_retried_and_holds_for_the_day(
    db: Database, bench: Callable[..., Bench]
) -> None:
    place = bench(retries=2, limit=5)
    row, code, output = place.run("echo '{\"spent_credits\": 100}'")
    assert (row.status, row.attempt, row.spent_credits, code) == ("failed", 1, 100, 1), output
    assert row.metadata["result"]["cause"] == "budget_exceeded"
    db.execute("update lenses.workflow_schedules set next_run_at = now() - interval '1 second'")
    db.execute("call lenses.sp_dispatch_tick()")
    status = "select last_dispatch_status from lenses.workflow_schedules"
    assert db.value(status) == "budget_exceeded"


def test_attempts_spend_together(bench: Callable[..., Bench]) -> None:
    row, _, output = bench(retries=5, limit=5).run("echo '{\"spent_credits\": 2}'; exit 1")
    assert (row.status, row.attempt, row.spent_credits) == ("failed", 3, 6), output
    assert row.metadata["result"]["cause"] == "budget_exceeded"


def test_a_run_that_is_lost_is_counted(db: Database, bench: Callable[..., Bench]) -> None:
    """Cancelled under its command: neither completed nor failed, and the exit code says so."""
    place = bench()
    run = run_now(db, place.owner, place.schedule)
    args = ("runs", "work", "--once", "--lease", "1s", "--", "sleep", "600")
    with running(db.dsn, *args) as process:
        status = "select status from lenses.workflow_runs where id = %s"
        wait_until(lambda: db.value(status, [run]) == "running")
        db.execute("select lenses.fn_cancel_workflow_run(%s)", [run])
        assert process.ends(30) == 1
        assert "0 completed, 0 failed, 1 lost" in process.output
