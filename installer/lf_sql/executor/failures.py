"""What a handler raises to say how its attempt failed, and how an attempt ended."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta
from decimal import Decimal
from typing import Any

import psycopg

from lf_sql import db
from lf_sql.plain import plain

CAUSE_MOST = 200  # characters that the database takes
LONGEST_DELAY = 86_400.0  # seconds that a run waits because its handler or endpoint asked for it


class RunFailed(Exception):
    """The attempt has failed; the retry policy's `retryOn` is about its `cause`.

    Raise it with a cause of your own, or a subclass; yours may have a `cause` of its own. Another
    attempt, where policy grants one, waits at least `retry_after` seconds, a day at most; with
    `retry=False` there is none, since it would end no better.
    """

    cause = "failed"
    retry = True

    def __init__(
        self,
        message: str = "",
        *,
        cause: str | None = None,
        retry_after: float | timedelta | None = None,
        retry: bool | None = None,
    ) -> None:
        super().__init__(message)
        if retry is not None:
            self.retry = retry
        if cause is not None:
            self.cause = cause
        if isinstance(retry_after, timedelta):
            retry_after = retry_after.total_seconds()
        self.retry_after = retry_after


class TransientError(RunFailed):
    """What the handler depends on did not work: another attempt may go well."""

    cause = "provider_error"


class RateLimited(RunFailed):
    """A service asks for fewer calls; the next attempt waits at least `retry_after` seconds."""

    cause = "rate_limit"

    def __init__(self, retry_after: float | timedelta | None = None, message: str = "") -> None:
        super().__init__(message or "rate limited", retry_after=retry_after)


class ContractViolated(RunFailed):
    """The answer is not of the form that was agreed."""

    cause = "contract_violated"


class BudgetExceeded(RunFailed):
    """The run has spent more than its limit; it is not tried again."""

    cause = "budget_exceeded"


@dataclass(frozen=True)
class Verdict:
    """`cause` None: the run is completed, and `text` is its result as JSON, or nothing."""

    cause: str | None
    text: str
    spent: Decimal = Decimal(0)
    retry_after: float | None = None  # seconds before another attempt
    is_final: bool = False  # no other attempt, whatever the policy grants


def verdict_of(error: BaseException, spent: Decimal) -> Verdict:
    """What an exception of a handler means for its run, whatever is wrong with the exception."""
    try:
        return _verdict_of(error, spent)
    except Exception as trouble:
        name = type(error).__name__[:CAUSE_MOST]
        return Verdict(name, f"{name}, which cannot be told: {type(trouble).__name__}", spent)


def _verdict_of(error: BaseException, spent: Decimal) -> Verdict:
    said = str(error)
    if isinstance(error, RunFailed):
        cause = plain(error.cause).strip()[:CAUSE_MOST] or RunFailed.cause
        retry_after = error.retry_after
        if retry_after is not None:  # NaN and what is negative is no wait
            retry_after = min(retry_after, LONGEST_DELAY) if retry_after > 0 else None
        return Verdict(cause, said or cause, spent, retry_after, not error.retry)
    if isinstance(error, TimeoutError):
        return Verdict("timeout", said or "timed out", spent)
    name = type(error).__name__[:CAUSE_MOST]
    return Verdict(name, f"{name}: {said}" if said else name, spent)


def overspent(total: Decimal, limit: Decimal) -> str:
    """What is said of a run that has spent more than its limit."""
    return f"spent {total.normalize():f} credits, the limit is {limit.normalize():f}"


def capped(verdict: Verdict, row: dict[str, Any]) -> Verdict:
    """The limit of a single run outranks however else its attempt ended."""
    limit, total = row["spending_limit"], row["spent_before"] + verdict.spent
    if limit is None or total <= limit:
        return verdict
    return replace(
        verdict, cause=BudgetExceeded.cause, text=overspent(total, limit), retry_after=None
    )


def refused(verdict: Verdict, error: psycopg.Error) -> Verdict:
    """What is told instead where the database does not take the verdict."""
    message, rest = db.describe(error)
    reason = f"refused by the database: {message}" + (f" ({rest})" if rest else "")
    if verdict.cause is None:
        return Verdict("contract_violated", f"result {reason}", verdict.spent)
    # The failure stands, whatever is wrong with the credits.
    text = f"{verdict.text}; spent_credits {reason}"
    return replace(verdict, text=text, spent=Decimal(0))
