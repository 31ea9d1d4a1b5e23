"""How a run ended, told to the database until it has answered; what it refuses fails the run."""

from __future__ import annotations

from collections.abc import Callable

import psycopg

from lf_sql.errors import LfSqlError
from lf_sql.judge import Verdict, refused
from lf_sql.leases import Attempt
from lf_sql.link import Link
from lf_sql.trouble import kind_of

COMPLETE = "select lenses.fn_complete_workflow_run(%s, %s, %s::jsonb, %s, %s) as is_ours"
FAIL = "select lenses.fn_fail_workflow_run(%s, %s, %s, %s, %s, %s) as is_ours"

# No two claims share a worker id, so that an event of ours is of this attempt.
TOLD = (
    "select exists (select from lenses.workflow_run_events as e "
    "where e.run_id = %s and e.payload ->> 'worker_id' = %s and e.payload ->> 'from' = 'running' "
    "and e.payload ->> 'cause' is not distinct from %s "
    "and coalesce(e.payload ->> 'error', '') = pg_catalog.left(%s, 2000)) as is_told"
)


class Untold(LfSqlError):
    """The database takes neither the result nor the failure."""


class Delivery:
    """`deliver` returns what has been accepted, or None where the run is not ours any more."""

    def __init__(self, link: Link, say: Callable[[str], None]) -> None:
        self._link = link
        self._say = say

    def deliver(self, attempt: Attempt, verdict: Verdict) -> Verdict | None:
        for _ in range(3):  # the verdict, its refusal, the refusal without credits
            try:
                return verdict if self._is_accepted(attempt, verdict) else None
            except psycopg.Error as error:
                if kind_of(error) != "run":
                    raise
                verdict = refused(verdict, error)
        raise Untold(f"the database takes no end of it: {verdict.text}")

    def _is_accepted(self, attempt: Attempt, verdict: Verdict) -> bool:
        doubts: list[bool] = []
        if verdict.cause is None:
            text = verdict.text or None
            query, told = COMPLETE, [text, verdict.spent]
        else:
            query, told = FAIL, [verdict.cause, verdict.text, verdict.spent]
        (row,) = self._link.rows(
            query,
            [attempt.id, attempt.worker_id, *told, attempt.number],
            on_doubt=lambda: doubts.append(True),
            who=attempt.id,
        )
        return row["is_ours"] or (bool(doubts) and self._was_told(attempt, verdict))

    def _was_told(self, attempt: Attempt, verdict: Verdict) -> bool:
        """Whether it was accepted when the connection broke before the answer came."""
        error = verdict.text if verdict.cause is not None else ""
        try:
            (row,) = self._link.rows(TOLD, [attempt.id, attempt.worker_id, verdict.cause, error])
        except psycopg.Error as trouble:
            self._say(f"run {attempt.id}: whether it was accepted is not known: {trouble}")
            return False
        return bool(row["is_told"])
