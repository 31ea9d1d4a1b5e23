"""What a handler gets: one attempt of a run."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from decimal import Decimal
from functools import cached_property
from typing import Any
from uuid import UUID

from lf_sql.executor.failures import BudgetExceeded, countable, overspent
from lf_sql.executor.leases import Attempt
from lf_sql.executor.spans import Span
from lf_sql.instants import read

EVENT = re.compile(r"(?!(run|team_run|approval)[._])[a-z][a-z0-9_.]{0,199}")
PAYLOAD_MOST = 65536  # bytes of an event's payload

Tell = Callable[[Attempt, str, str], None]


class Run:
    """One attempt of a run, for its handler; every method may be called from any thread."""

    def __init__(self, attempt: Attempt, tell: Tell) -> None:
        self._attempt = attempt
        self._tell = tell
        self._lock = threading.Lock()
        self._spent = Decimal(0)
        self.is_left = False
        """Whether `leave` was called."""
        self.span = Span(attempt.id, attempt.number)
        """For handlers of lf-sql's own: the attempt's span."""

    def __repr__(self) -> str:
        return f"<Run {self.id} attempt {self.attempt} of {self.workflow!r}>"

    @property
    def lease(self) -> Attempt:
        """For handlers of lf-sql's own, which end what they have started when the lease is lost."""
        return self._attempt

    @cached_property
    def row(self) -> Mapping[str, Any]:
        """All columns of lenses.workflow_runs at the claim, and `definition`; as JSON has them."""
        found: dict[str, Any] = json.loads(self._attempt.row["run"])
        return found

    @property
    def json(self) -> str:
        """The same as JSON text."""
        text: str = self._attempt.row["run"]
        return text

    @property
    def id(self) -> UUID:
        return UUID(self._attempt.id)

    @property
    def attempt(self) -> int:
        """1 for the first; a retry by policy counts on."""
        return self._attempt.number

    @property
    def worker_id(self) -> str:
        """Who holds the lease, as the database knows us."""
        return self._attempt.worker_id

    @property
    def traceparent(self) -> str:
        """The header `traceparent` for requests that the handler makes, of W3C Trace Context.

        It puts what they cause into the run's trace, whose id is the run's id.
        """
        return self.span.headers["traceparent"]

    @property
    def inputs(self) -> Any:
        """The run's `context_inputs`: what the schedule, its rotation or the caller gave."""
        return self.row["context_inputs"]

    @property
    def definition(self) -> dict[str, Any]:
        """The workflow's definition in the version that was dispatched."""
        found: dict[str, Any] = self.row["definition"] or {}
        return found

    @property
    def policies(self) -> dict[str, Any]:
        """The four policies and the `limits` that the run was dispatched with."""
        found: dict[str, Any] = self.row["policies"]
        return found

    @property
    def workflow(self) -> str:
        """The workflow's title."""
        return self._attempt.row["title"] or ""

    @property
    def workflow_id(self) -> UUID:
        return UUID(self.row["workflow_id"])

    @property
    def kind(self) -> str:
        """The workflow's kind: `workflow` or `battle`."""
        return self._attempt.row["kind"] or ""

    @property
    def lenser_id(self) -> UUID:
        """The tenant whose run it is."""
        return UUID(self.row["lenser_id"])

    @property
    def trigger_mode(self) -> str:
        """`schedule`, `manual` or `backfill`."""
        return str(self.row["trigger_mode"])

    @property
    def schedule_id(self) -> UUID | None:
        """The schedule that it came from, where it is still there."""
        return _uuid(self.row["schedule_id"])

    @property
    def slot(self) -> datetime | None:
        """The planned instant, `scheduled_for`; None where it was started by hand."""
        return _instant(self.row["scheduled_for"])

    @property
    def team_id(self) -> UUID | None:
        """The team it is assigned to."""
        return _uuid(self.row["team_id"])

    @property
    def agent_id(self) -> UUID | None:
        """The agent it is assigned to, `ai_lenser_id`."""
        return _uuid(self.row["ai_lenser_id"])

    @property
    def started_at(self) -> datetime:
        """When this attempt was claimed, by the server's clock."""
        at = _instant(self.row["started_at"])
        assert at is not None
        return at

    @property
    def timeout(self) -> float | None:
        """Seconds that `timeoutMs` of the retry policy gives an attempt; None: no limit."""
        ms = self._attempt.row["timeout_ms"]
        return ms / 1000 if ms else None

    @property
    def deadline(self) -> datetime | None:
        """When this attempt ends as timed out, by the server's clock."""
        return None if self.timeout is None else self.started_at + timedelta(seconds=self.timeout)

    @property
    def cancelled(self) -> bool:
        """True once there is no use in going on: cancelled, lease lost, over time, process ending.

        A plain handler looks at it between two pieces of its work and returns; an `async` one is
        cancelled besides.
        """
        return self._attempt.told_to_stop.is_set() or self._attempt.is_lost

    def wait_cancelled(self, timeout: float | None = None) -> bool:
        """Sleep for so many seconds, or until `cancelled`; whether it is."""
        most = None if timeout is None else min(timeout, threading.TIMEOUT_MAX)
        return self._attempt.told_to_stop.wait(most) or self.cancelled

    @property
    def spent(self) -> Decimal:
        """Credits that this attempt has spent so far."""
        with self._lock:
            return self._spent

    def spend(self, credits: Decimal | float | str) -> None:
        """Add to what this attempt has spent; it is booked however the attempt ends.

        ValueError: negative or not finite. BudgetExceeded where the run has now spent more than
        its limit; let it pass, and the run fails without another attempt.
        """
        amount = credits if isinstance(credits, Decimal) else Decimal(str(credits))
        if not (amount.is_finite() and amount >= 0):
            raise ValueError(f"credits must be 0 or more, and finite, not {credits}")
        with self._lock:
            self._spent += countable(amount)
            total = self._spent + self._attempt.row["spent_before"]
        limit = self._attempt.row["spending_limit"]
        if limit is not None and total > limit:
            raise BudgetExceeded(overspent(total, limit))

    def event(self, event_type: str, payload: Any = None) -> None:
        """Append an event to the run's events, as fn_append_run_event does.

        It is written soon, in order, and before the attempt's end; twice in the rare case that the
        connection broke before the answer came. ValueError: a name that is not lower-case words
        joined by dots, or is the database's own (`run.…`); a payload that is no JSON or larger
        than 64 KB.
        """
        if not EVENT.fullmatch(event_type):
            raise ValueError(f"no name for an event of an executor: {event_type!r}")
        text = dumps({} if payload is None else payload)
        if len(text.encode()) > PAYLOAD_MOST:
            raise ValueError(f"the payload of {event_type} is larger than {PAYLOAD_MOST} bytes")
        self._tell(self._attempt, event_type, text)

    def leave(self) -> None:
        """Leave the run to another process: it calls fn_complete_workflow_run with our worker id.

        The handler's return value is then ignored and the lease no longer extended: once it ends
        (at the earliest after two thirds of its length), the attempt has failed with `timeout`.
        """
        self.is_left = True


def dumps(value: Any) -> str:
    """JSON that the database accepts; ValueError says why a value is not JSON."""
    try:
        text = json.dumps(value, allow_nan=False, ensure_ascii=False, separators=(",", ":"))
        text.encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"no JSON: {error}") from error
    return text


def _uuid(text: str | None) -> UUID | None:
    return None if text is None else UUID(text)


def _instant(text: str | None) -> datetime | None:
    return None if text is None else read(text)
