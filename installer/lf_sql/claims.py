"""Runs for an executor: claimed, or found again where the answer to a claim was lost on its way."""

from __future__ import annotations

import threading
import time
from typing import Any

import psycopg

from lf_sql.errors import LfSqlError
from lf_sql.leases import Leases
from lf_sql.link import Link, pauses, words
from lf_sql.trouble import ends_session, kind_of

TRIES = 5  # of a claim that fails by no fault of the server's, before the process gives up

COLUMNS = """
  r.id::text as id, r.attempt, r.worker_id,
  (r.policies #>> '{retry_policy,timeoutMs}')::float8 as timeout_ms,
  (r.policies #>> '{limits,spending_limit_credits}')::numeric as spending_limit,
  case when r.metadata ? 'fallback_from' then 0 else r.spent_credits end as spent_before,
"""
CLAIM = f"""
select {COLUMNS} pg_catalog.to_jsonb(r)::text as run
from lenses.fn_claim_workflow_runs(%s, %s, pg_catalog.make_interval(secs => %s)) as r
"""  # noqa: S608
FIND = f"""
select {COLUMNS} (pg_catalog.to_jsonb(r) || pg_catalog.jsonb_build_object('definition', (
    select v.definition from lenses.workflow_versions as v
    where v.workflow_id = r.workflow_id and v.version = r.workflow_version)))::text as run,
  extract(epoch from r.lease_expires_at - pg_catalog.clock_timestamp())::float8 as lease_left
from lenses.workflow_runs as r
where r.status = 'running' and r.worker_id = any (%s)
  and r.lease_expires_at > pg_catalog.clock_timestamp()
"""  # noqa: S608


class Claims:
    """Each claim has a worker id of its own: what it took is known by it, and fenced."""

    def __init__(
        self, name: str, link: Link, leases: Leases, lease: float, stop: threading.Event
    ) -> None:
        self._name = name
        self._link = link
        self._leases = leases
        self._lease = lease
        self._stop = stop
        self._count = 0
        self._doubts: dict[str, float] = {}  # worker ids of claims without an answer, until when

    def claim(self, limit: int) -> tuple[list[dict[str, Any]], float]:
        """Runs, and when they were asked for; none once stopped."""
        tries = 0
        for pause in pauses():
            sent_at = time.monotonic()
            try:
                return self._find(limit) or self._claim(limit), sent_at
            except (psycopg.Error, LfSqlError) as error:
                kind = kind_of(error)
                tries += kind != "server"
                if kind == "usage":
                    raise
                if tries >= TRIES:
                    raise LfSqlError(f"the claims fail: {words(error)}") from error
            if self._stop.wait(pause):
                break
        return [], sent_at

    def _claim(self, limit: int) -> list[dict[str, Any]]:
        self._count += 1
        worker_id = f"{self._name}:{self._count}"
        try:
            return self._link.once(CLAIM, [worker_id, limit, self._lease])
        except psycopg.Error as error:
            if ends_session(error):
                self._doubts[worker_id] = time.monotonic() + self._lease
            raise

    def _find(self, limit: int) -> list[dict[str, Any]]:
        """What such a claim took after all."""
        now = time.monotonic()
        self._doubts = {name: until for name, until in self._doubts.items() if until > now}
        if not self._doubts:
            return []
        known = {attempt.key for attempt in self._leases.held()}  # before the question
        try:
            rows = self._link.once(FIND, [list(self._doubts)])
        except psycopg.Error as error:
            if kind_of(error) == "server":
                raise
            self._doubts = {}  # a role that may not look: their leases decide
            return []
        return [row for row in rows if (row["id"], row["worker_id"]) not in known][:limit]
