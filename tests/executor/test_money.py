"""What attempts spend is booked, however they end."""

from __future__ import annotations

import asyncio
import random
import uuid
from collections import defaultdict
from decimal import Decimal
from typing import Any

import pytest

from lf_sql import BudgetExceeded, ContractViolated, Executor, RateLimited, Run
from lf_sql.command import Ended
from lf_sql.verdicts import spent_by
from tests.executor.conftest import Place

BOOK = "select lenses.fn_book_run_credits(%s, %s, %s, %s)"
STEAL = (
    "update lenses.workflow_runs set lease_expires_at = now() - interval '1 second' where id = %s"
)


@pytest.mark.parametrize("seed", [1, 2])
def test_what_is_spent_is_booked_at_whatever_end(place: Place, seed: int) -> None:
    """Completed, refused, raised, over time, cancelled, reaped; in threads and as tasks."""
    chance = random.Random(seed)
    spent: dict[uuid.UUID, Decimal] = defaultdict(Decimal)
    ends: set[str] = set()
    executor = Executor(concurrency=12, lease=2)

    def spend(run: Run) -> None:
        for _ in range(chance.randint(1, 3)):
            amount = Decimal(chance.randint(1, 40_000)) / 10_000
            spent[run.id] += amount
            run.spend(amount)

    def end(run: Run, how: str) -> Any:
        """What comes of it at once; None: it goes on until it is told to stop."""
        ends.add(how)
        if how == "refuse":
            return "a\0b"
        if how == "raise":
            final = ContractViolated("no", retry=False)
            raise chance.choice([ValueError("no"), RateLimited(0), TimeoutError(), final])
        if how == "cancel":
            place.cancel(run.id)
        if how == "reap":
            place.db.execute(STEAL, [run.id])
            place.db.execute("select lenses.fn_reap_workflow_runs()")
        return how if how == "complete" else None

    kinds = ["complete", "refuse", "raise", "cancel", "reap", "time out"]

    def plain(run: Run) -> Any:
        spend(run)
        how = run.inputs if run.attempt == 1 else chance.choice(kinds)
        if (result := end(run, how)) is None:
            run.wait_cancelled(60)
            spend(run)
        return result

    async def task(run: Run) -> Any:
        spend(run)
        how = run.inputs if run.attempt == 1 else chance.choice(kinds)
        if (result := end(run, how)) is None:
            try:
                await asyncio.sleep(60)
            finally:
                spend(run)
        return result

    executor.handler("task")(task)
    executor.handler("plain")(plain)
    runs = [
        run
        for kind in kinds
        for title in ("task", "plain")
        for run in place.start(title, 2, inputs=kind, maxRetries=2, timeoutMs=1000)
    ]
    place.all(executor, hurry=True)
    assert ends == set(kinds)
    assert {run: place.row(run).spent_credits for run in runs} == {r: spent[r] for r in runs}


@pytest.mark.parametrize("heeds", [True, False])
def test_a_limit_that_is_passed_ends_the_run(place: Place, heeds: bool) -> None:
    executor = Executor()

    @executor.default
    def handle(run: Run) -> str:
        run.spend(4)
        try:
            run.spend("2.5")
        except BudgetExceeded:
            if heeds:
                raise
        return "done"

    (run,) = place.start("dear", limit=5, maxRetries=3)
    place.all(executor)
    row = place.row(run)
    assert (row.status, row.attempt, row.spent_credits) == ("failed", 1, Decimal("6.5"))
    assert row.metadata["result"]["cause"] == "budget_exceeded"
    assert "spent 6.5 credits, the limit is 5" in row.metadata["result"]["error"]


def test_attempts_spend_together(place: Place) -> None:
    executor = Executor()

    @executor.default
    def handle(run: Run) -> None:
        run.spend(2)
        raise ValueError

    (run,) = place.start("retried", limit=5, maxRetries=9)
    place.all(executor)
    row = place.row(run)
    assert (row.attempt, row.spent_credits) == (3, 6)
    assert row.metadata["result"]["cause"] == "budget_exceeded"


@pytest.mark.parametrize("credits", [-1, "NaN", "Infinity"])
def test_nothing_but_credits_is_spent(place: Place, credits: Any) -> None:
    executor = Executor()
    executor.default(lambda run: run.spend(credits))
    (run,) = place.start("odd")
    place.all(executor)
    assert place.result(run)["cause"] == "ValueError"
    assert place.row(run).spent_credits == 0


def test_an_attempt_is_booked_once_and_only_by_whoever_had_it(place: Place) -> None:
    (run,) = place.start("booked")
    place.db.execute("select lenses.fn_claim_workflow_runs('w')")
    place.cancel(run)
    assert place.db.value(BOOK, [run, "another", 1, 3]) is False
    assert place.db.value(BOOK, [run, "w", 2, 3]) is False
    assert place.db.value(BOOK, [uuid.uuid4(), "w", 1, 3]) is False
    assert place.row(run).spent_credits == 0
    for _ in range(2):
        assert place.db.value(BOOK, [run, "w", 1, "3.25"]) is True
    assert place.row(run).spent_credits == Decimal("3.25")
    assert place.events(run).count("run.booked") == 1
    for wrong in (0, -1, "NaN", "Infinity", None):
        with pytest.raises(Exception, match="p_spent_credits must be more than 0"):
            place.db.value(BOOK, [run, "w", 1, wrong])


@pytest.mark.parametrize(
    ("printed", "spent"), [("1.5", "1.5"), ("1e999999999", "1e40"), ("1e-999999999", "0")]
)
def test_what_an_ended_command_has_spent_can_be_written_out(printed: str, spent: str) -> None:
    """A billion digits would take the executor's memory, and its other runs with it."""
    found = spent_by(Ended(output=f'{{"spent_credits": {printed}}}'.encode()))
    assert found == Decimal(spent)
    assert len(f"{found:f}") < 100
