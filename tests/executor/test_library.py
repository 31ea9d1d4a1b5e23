"""The library for executors: who does which run, what he gets, and what becomes of it."""

from __future__ import annotations

import asyncio
import json
import logging
import threading
import uuid
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from lf_sql import (
    BudgetExceeded,
    ContractViolated,
    Executor,
    RateLimited,
    Run,
    RunFailed,
    TransientError,
)
from lf_sql.executor import work
from tests.executor.conftest import Place, at_work
from tests.support.database import wait_until
from tests.support.work import make_schedule, run_now


def test_the_closest_handler_does_a_run(place: Place) -> None:
    executor = Executor()
    by_id = place.workflow("by title")
    executor.handler("by title")(lambda run: "title")
    executor.handler(id=by_id)(lambda run: "id")
    executor.handler(kind="workflow")(lambda run: "kind")
    place.db.execute("insert into lenses.workflows (lenser_id, title, kind) values (%s, 'b', 'battle')", [place.owner.id])  # fmt: skip

    @executor.default
    async def other(run: Run) -> str:
        return f"default {run.kind}"

    free = {"approval_policy": '{"requiresApproval": false}'}
    battle = place.db.value("select id from lenses.workflows where kind = 'battle'")
    runs = {
        run_now(place.db, place.owner, make_schedule(place.db, by_id, **free)): "id",
        place.start("by title")[0]: "title",
        place.start("another")[0]: "kind",
        run_now(place.db, place.owner, make_schedule(place.db, battle, **free)): "default battle",
    }
    outcomes = place.all(executor)
    assert {outcome.run.id: json.loads(outcome.verdict.text) for outcome in outcomes} == runs
    assert {run: place.result(run) for run in runs} == runs


def test_a_handler_gets_the_run(place: Place) -> None:
    executor, seen = Executor(lease=60), []
    definition = '{"nodes":[{"id":"n"}],"edges":[]}'
    workflow = place.workflow("typed", definition)
    schedule = make_schedule(
        place.db, workflow, cron_expr="* * * * *", retry_policy='{"timeoutMs": 90000}',
        inputs_template='{"day": 7}',
    )  # fmt: skip
    place.db.execute(
        "update lenses.workflow_schedules set next_run_at = date_trunc('minute', now()) - interval '1 minute' where id = %s",
        [schedule],
    )
    place.db.execute("select lenses.fn_dispatch_scheduled_workflows()")
    executor.handler("typed")(seen.append)
    place.all(executor)
    run = seen[0]
    row = place.row(run.id)
    assert (run.attempt, run.inputs, run.workflow, run.kind) == (1, {"day": 7}, "typed", "workflow")
    assert run.definition == json.loads(definition)
    assert (run.schedule_id, run.slot, run.workflow_id) == (schedule, row.scheduled_for, workflow)
    assert (run.lenser_id, run.team_id, run.agent_id) == (place.owner.id, None, None)
    assert run.trigger_mode == "schedule" and run.policies == row.policies
    assert run.started_at == row.started_at
    assert run.deadline == row.started_at + timedelta(seconds=90)
    assert isinstance(run.id, uuid.UUID) and not run.cancelled


class Odd(RunFailed):
    cause = "out_of_paper"


CAUSES: dict[str, tuple[Callable[[], Any], str]] = {
    "transient": (lambda: TransientError("try again"), "provider_error"),
    "rate": (lambda: RateLimited(5), "rate_limit"),
    "timeout": (lambda: TimeoutError("too slow"), "timeout"),
    "contract": (lambda: ContractViolated("no list"), "contract_violated"),
    "budget": (lambda: BudgetExceeded("dear"), "budget_exceeded"),
    "own": (lambda: RunFailed("said", cause="of.my.own"), "of.my.own"),
    "subclass": (lambda: Odd(), "out_of_paper"),
    "other": (lambda: KeyError("day"), "KeyError"),
    "odd text": (lambda: RunFailed("a\0\ud800", cause="b\0\ud800"), "b\\x00\\ud800"),
    "blank": (lambda: RunFailed("a", cause=" "), "failed"),
    "exit": (lambda: SystemExit(3), "SystemExit"),
    "no JSON": (lambda: {1, 2}, "contract_violated"),
    "NaN": (lambda: {"a": float("nan")}, "contract_violated"),
    "zero": (lambda: "a\0b", "contract_violated"),
    "too long": (lambda: "x" * 2_000_000, "contract_violated"),
}


@pytest.mark.parametrize("is_async", [False, True])
def test_what_is_raised_is_the_cause(place: Place, is_async: bool) -> None:
    executor = Executor(concurrency=30)

    def plain(run: Run) -> Any:
        outcome = CAUSES[run.inputs][0]() if run.inputs in CAUSES else "fine"
        if isinstance(outcome, BaseException):
            raise outcome
        return outcome

    async def task(run: Run) -> Any:
        return plain(run)

    executor.default(task if is_async else plain)
    names = [*CAUSES, "fine"]
    # SystemExit of a task ends its loop, as Python has it.
    runs = {n: place.start(n, inputs=n)[0] for n in names if not (is_async and n == "exit")}
    place.all(executor)
    found = {name: place.row(run) for name, run in runs.items()}
    assert found.pop("fine").metadata["result"] == "fine"
    causes = {name: row.metadata["result"]["cause"] for name, row in found.items()}
    assert causes == {name: CAUSES[name][1] for name in found}
    assert {row.status for row in found.values()} == {"failed"}
    assert "day" in found["other"].metadata["result"]["error"]


def test_a_rate_limit_says_when_to_come_back(place: Place) -> None:
    executor = Executor()

    @executor.default
    def handle(run: Run) -> None:
        raise RateLimited(run.inputs)

    runs = {
        s: place.start("limited", inputs=s, maxRetries=1, backoffMs=600_000)[0]
        for s in (3600, 1, 1e9)
    }
    before = datetime.now(UTC)
    place.all(executor)
    waits = {s: (place.row(run).available_at - before).total_seconds() for s, run in runs.items()}
    assert waits[3600] >= 3600 > 2000 > waits[1] > 400  # the longer of policy and request
    assert waits[1e9] <= 86_400 + 600
    assert {place.row(run).status for run in runs.values()} == {"pending"}


@pytest.mark.parametrize("retry", [True, False])
def test_a_failure_that_would_end_no_better_is_not_tried_again(place: Place, retry: bool) -> None:
    executor = Executor()

    @executor.default
    def handle(run: Run) -> None:
        raise ContractViolated("no such customer", retry=retry)

    (run,) = place.start("final", maxRetries=2)
    place.all(executor)
    assert (place.row(run).status, place.row(run).attempt) == ("failed", 3 if retry else 1)


def test_runs_that_have_no_handler_are_left_alone(
    place: Place, caplog: pytest.LogCaptureFixture
) -> None:
    """As they were: not claimed and given back, which costs an event and half a minute."""
    executor = Executor(concurrency=2)
    executor.handler("mine")(lambda run: 1)
    executor.handler("nobody's")(lambda run: 1)
    others, (mine,) = place.start("other", 5), place.start("mine")
    before = [place.row(run) for run in others]
    with caplog.at_level("WARNING", logger="lf_sql.executor"):
        place.all(executor)
    assert place.row(mine).status == "completed"
    assert [place.row(run) for run in others] == before
    said = [message for message in caplog.messages if "no workflow" in message]
    assert said == ['there is no workflow "nobody\'s" yet; its handler waits for one']
    executor.default(lambda run: run.attempt)
    place.all(executor)
    assert [place.result(run) for run in others] == [1] * 5


def test_a_workflow_that_comes_later_is_found(place: Place) -> None:
    """By its first run's notification, though the executor has just asked what there is."""
    executor = Executor(place.dsn, poll=3600)
    executor.handler("early")(lambda run: 1)
    executor.handler("late")(lambda run: 2)
    with at_work(executor):
        assert place.ended(place.start("early")[0]).status == "completed"
        assert place.ended(place.start("late")[0]).metadata["result"] == 2


def test_more_workflows_than_a_claim_can_name(place: Place, monkeypatch: Any) -> None:
    """Then all are claimed, and what has no handler is given back."""
    monkeypatch.setattr("lf_sql.executor.workflows.MOST", 1)
    executor = Executor(concurrency=2)
    executor.handler("mine")(lambda run: 1)
    executor.handler("mine too")(lambda run: 1)
    (other, *_), (mine,), _ = (
        place.start("other", 5),
        place.start("mine"),
        place.start("mine too"),
    )
    place.all(executor)
    row = place.row(other)
    assert (row.status, row.attempt, row.worker_id) == ("pending", 0, None)
    assert row.available_at > datetime.now(UTC)
    assert place.row(mine).status == "completed"


def test_nothing_is_put_off_where_all_is_to_be_done(place: Place) -> None:
    executor = Executor(concurrency=4)
    executor.handler("narrow", limit=1)(lambda run: 1)
    executor.handler("wide")(lambda run: 1)
    runs = [*place.start("narrow", 12), *place.start("wide", 2)]
    place.all(executor)
    assert {(place.row(run).status, place.row(run).attempt) for run in runs} == {("completed", 1)}


def test_events_stand_in_order_before_the_end(place: Place) -> None:
    executor = Executor()

    @executor.default
    async def handle(run: Run) -> None:
        for n in range(3):
            run.event(f"node.n{n}", {"n": n})
        for name in ("run.done", "Node", "", "approval.x"):
            with pytest.raises(ValueError, match="no name"):
                run.event(name)
        with pytest.raises(ValueError, match="larger"):
            run.event("a", "x" * 70_000)
        run.event("node.deep", json.loads("[" * 40 + "]" * 40))  # what the database refuses alone

    runs = place.start("events", 5)
    place.all(executor)
    for run in runs:
        told = ["run.started", "node.n0", "node.n1", "node.n2", "run.completed"]
        assert place.events(run)[-5:] == told


@pytest.mark.parametrize("is_async", [False, True])
def test_time_out_of_the_policy(place: Place, is_async: bool) -> None:
    executor = Executor()

    async def task(run: Run) -> str:
        try:
            await asyncio.Event().wait()
        finally:
            run.spend(2)
        return "never"

    def plain(run: Run) -> str:
        assert run.wait_cancelled(60)
        run.spend(2)
        return "too late"

    executor.default(task if is_async else plain)
    (run,) = place.start("slow", timeoutMs=200)
    place.all(executor)
    row = place.row(run)
    assert (row.status, row.metadata["result"]["cause"]) == ("failed", "timeout")
    assert "200 ms" in row.metadata["result"]["error"] and row.spent_credits == 2


def test_a_plain_handler_that_does_not_end_keeps_only_its_place(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(work, "GRACE", 0.1)
    gate = threading.Event()
    executor = Executor()
    executor.handler("stuck")(lambda run: gate.wait())
    executor.default(lambda run: 1)
    (run,) = place.start("stuck", timeoutMs=100)
    executor.dsn = place.dsn
    with at_work(executor):
        assert place.ended(run).metadata["result"]["cause"] == "timeout"
        (other,) = place.start("next")
        assert place.ended(other).status == "completed"
        gate.set()
    assert place.row(run).metadata["result"]["cause"] == "timeout"


@pytest.mark.parametrize("is_async", [False, True])
def test_a_cancelled_run_s_handler_is_told(place: Place, is_async: bool) -> None:
    up, told = threading.Event(), threading.Event()
    executor = Executor(place.dsn, lease=4)

    async def task(run: Run) -> None:
        up.set()
        try:
            await asyncio.Event().wait()
        finally:
            assert run.cancelled
            told.set()

    def plain(run: Run) -> None:
        up.set()
        if run.wait_cancelled(60):
            told.set()

    executor.default(task if is_async else plain)
    (run,) = place.start("cancelled")
    with at_work(executor):
        assert up.wait(120)
        place.cancel(run)
        assert told.wait(120)
    assert place.row(run).status == "cancelled"


def test_a_handler_that_blocks_its_loop_stops_no_heartbeat(place: Place) -> None:
    executor = Executor(lease=6)
    (run,) = place.start("blocking")
    with place.db.another() as db:
        expires = "select lease_expires_at from lenses.workflow_runs where id = %s"

        @executor.default
        async def handle(run: Run) -> str:
            first = db.value(expires, [run.id])
            wait_until(lambda: db.value(expires, [run.id]) > first)
            return "held"

        place.all(executor)
    assert (place.row(run).attempt, place.result(run)) == (1, "held")


def test_a_lost_run_is_left_alone(place: Place) -> None:
    """Its lease was taken away: what the late attempt returns is not taken for the next one's."""
    executor = Executor(lease=4)

    @executor.default
    def handle(run: Run) -> int:
        if run.attempt == 1:
            place.db.execute(
                "update lenses.workflow_runs set lease_expires_at = now() - interval '1 second' "
                "where id = %s",
                [run.id],
            )
            place.db.execute("select lenses.fn_reap_workflow_runs()")
            assert run.wait_cancelled(60)
        return run.attempt

    (run,) = place.start("lost", maxRetries=1)
    outcomes = place.all(executor)
    assert [outcome.status for outcome in outcomes] == ["lost", "completed"]
    assert (place.row(run).attempt, place.result(run)) == (2, 2)


def test_retries_can_be_hurried(place: Place) -> None:
    executor = Executor()

    @executor.default
    def handle(run: Run) -> str:
        if run.attempt < 3:
            raise TransientError("not yet")
        return "at last"

    (run,) = place.start("retried", maxRetries=5, backoffMs=3_600_000)
    assert [o.verdict.cause for o in place.all(executor)] == ["provider_error"]
    assert place.row(run).status == "pending"
    outcomes = place.all(executor, hurry=True)
    assert [outcome.status for outcome in outcomes] == ["failed", "completed"]
    assert place.result(run) == "at last"


def test_the_log_says_of_which_run(place: Place, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "lf_sql.executor")
    executor = Executor()
    executor.handler("logged")(lambda run: run.inputs["missing"])
    (run,) = place.start("logged", inputs={})
    place.all(executor)
    told = [record for record in caplog.records if getattr(record, "run_id", "") == str(run)]
    assert {(r.attempt, r.workflow) for r in told} == {(1, "logged")}  # type: ignore[attr-defined]
    assert any(record.exc_info for record in told)
    assert told[-1].cause == "KeyError"  # type: ignore[attr-defined]
