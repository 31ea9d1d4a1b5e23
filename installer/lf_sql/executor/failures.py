"""What a handler raises to say how its attempt failed, and how an attempt ended."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import timedelta
from decimal import Decimal
from fractions import Fraction
from numbers import Real
from typing import Any

import psycopg

from lf_sql import db, webhook
from lf_sql.plain import plain

CAUSE_MOST = 200  # characters that the database takes
LONGEST_DELAY = 86_400.0  # seconds that a run waits because its handler or endpoint asked for it

INFINITE = float("inf")
MANY, FEW = Decimal("1e40"), Decimal("1e-40")  # credits; no run can have spent so many
SECONDS = re.compile(r"\s*\d{1,300}(\.\d*)?\s*", re.ASCII)

Wait = float | Decimal | Fraction | timedelta | str


class RunFailed(Exception):
    """The attempt has failed; the retry policy's `retryOn` is about its `cause`.

    Raise it with a cause of your own, or a subclass; yours may have a `cause` of its own. Another
    attempt, where policy grants one, waits at least `retry_after` seconds, a day at most, which
    may also be a timedelta, or the text of a header Retry-After; with `retry=False` there is none,
    since it would end no better.
    """

    cause = "failed"
    retry = True
    retry_after: Wait | None = None

    def __init__(
        self,
        message: str = "",
        *,
        cause: str | None = None,
        retry_after: Wait | None = None,
        retry: bool | None = None,
    ) -> None:
        super().__init__(message)
        if retry is not None:
            self.retry = retry
        if cause is not None:
            self.cause = cause
        if retry_after is not None:
            self.retry_after = retry_after


class TransientError(RunFailed):
    """What the handler depends on did not work: another attempt may go well."""

    cause = "provider_error"


class RateLimited(RunFailed):
    """A service asks for fewer calls; the next attempt waits at least `retry_after` seconds."""

    cause = "rate_limit"

    def __init__(self, retry_after: Wait | None = None, message: str = "") -> None:
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
    is_final: bool = False  # no other attempt if it fails, whatever the policy grants


def verdict_of(error: BaseException, spent: Decimal) -> Verdict:
    """What an exception of a handler means for its run, whatever is wrong with the exception."""
    name = plain(type(error).__name__)[:CAUSE_MOST]
    cause = "timeout" if isinstance(error, TimeoutError) else name
    retry_after, is_final = None, False
    try:
        if isinstance(error, RunFailed):
            cause = plain(error.cause).strip()[:CAUSE_MOST] or RunFailed.cause
            retry_after, is_final = seconds_of(error.retry_after), not error.retry
        text = _said(error, cause)
    except BaseException as trouble:  # its text may even ask the process to end
        text = f"{name}, which cannot be told: {type(trouble).__name__}"
    return Verdict(cause, text, spent, retry_after, is_final)


def _said(error: BaseException, cause: str) -> str:
    said = str(error)
    if isinstance(error, RunFailed):
        return said or cause
    if isinstance(error, TimeoutError):
        return said or "timed out"
    return f"{cause}: {said}" if said else cause


def seconds_of(wait: object) -> float | None:
    """A wait that was asked for, a day at most; None where that is none, or nothing to wait for."""
    seconds: Any = wait
    try:
        if isinstance(wait, timedelta):
            seconds = wait.total_seconds()
        elif isinstance(wait, str):
            seconds = float(wait) if SECONDS.fullmatch(wait) else webhook.retry_after(wait)
        is_number = isinstance(seconds, Real | Decimal) and not isinstance(seconds, bool)
        if is_number and 0 < seconds < INFINITE:  # NaN is not between them
            return float(min(seconds, LONGEST_DELAY))
    except (ArithmeticError, TypeError, ValueError):  # what no number can be compared with
        pass
    return None


def countable(credits: Decimal) -> Decimal:
    """Credits, not negative, that can be added up and written out.

    1e999999999 would have a billion digits: what the database refuses anyway, or cannot tell from
    none, is as good.
    """
    return min(credits, MANY) if credits >= FEW else Decimal(0)


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
        text = f"result {reason}"
        return replace(verdict, cause=ContractViolated.cause, text=text)
    # The failure stands, whatever is wrong with the credits.
    text = f"{verdict.text}; spent_credits {reason}"
    return replace(verdict, text=text, spent=Decimal(0))
