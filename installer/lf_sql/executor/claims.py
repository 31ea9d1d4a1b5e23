"""Runs for an executor: claimed, or found again where the answer to a claim was lost on its way."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from typing import Any

import psycopg

from lf_sql.errors import LfSqlError
from lf_sql.executor.handlers import Handler
from lf_sql.executor.leases import Attempt, Leases
from lf_sql.executor.log import log
from lf_sql.executor.workflows import Workflows
from lf_sql.link import Link, pauses, words
from lf_sql.trouble import ends_session, kind_of

TRIES = 5  # of a claim that fails though the server works, before the process gives up
AT_ONCE = 200  # runs that one claim takes


COLUMNS = """
  r.id::text as id, r.workflow_id::text as workflow_id, r.attempt, r.worker_id, w.title, w.kind,
  (r.policies #>> '{retry_policy,timeoutMs}')::float8 as timeout_ms,
  (r.policies #>> '{limits,spending_limit_credits}')::numeric as spending_limit,
  case when r.metadata ? 'fallback_from' then 0 else r.spent_credits end as spent_before,
"""
CLAIM = f"""
select {COLUMNS} pg_catalog.to_jsonb(r)::text as run
from lenses.fn_claim_workflow_runs(
  %s, %s, pg_catalog.make_interval(secs => %s), %s::uuid[]) as r
left join lenses.workflows as w on w.id = r.workflow_id
"""  # noqa: S608
FIND = f"""
select {COLUMNS} (pg_catalog.to_jsonb(r) || pg_catalog.jsonb_build_object('definition', (
    select v.definition from lenses.workflow_versions as v
    where v.workflow_id = r.workflow_id and v.version = r.workflow_version)))::text as run,
  extract(epoch from r.lease_expires_at - pg_catalog.clock_timestamp())::float8 as lease_left
from lenses.workflow_runs as r
left join lenses.workflows as w on w.id = r.workflow_id
where r.status = 'running' and r.worker_id = any (%s)
  and r.lease_expires_at > pg_catalog.clock_timestamp()
"""  # noqa: S608
# As service_role may, and the table's guards allow. The attempt does not count, because no worker
# began it.
GIVE_BACK = """
update lenses.workflow_runs as r
set status = 'pending', attempt = r.attempt - 1, worker_id = null, lease_expires_at = null,
  available_at = case when %s > 0
    then pg_catalog.now() + pg_catalog.make_interval(secs => %s) end
from rows from (
    pg_catalog.unnest(%s::uuid[]), pg_catalog.unnest(%s::integer[]), pg_catalog.unnest(%s::text[])
  ) as b (id, attempt, worker_id)
where r.id = b.id and r.attempt = b.attempt and r.worker_id = b.worker_id and r.status = 'running'
returning r.id::text as id
"""


class Claims:
    """Each claim has a worker id of its own: what it took is known by it, and fenced."""

    def __init__(
        self,
        name: str,
        link: Link,
        leases: Leases,
        lease: float,
        stop: threading.Event,
        workflows: Workflows,
    ) -> None:
        self._name = name
        self._link = link
        self._leases = leases
        self._lease = lease
        self._stop = stop
        self._workflows = workflows
        self._count = 0
        self._doubts: dict[str, float] = {}  # worker ids of claims without an answer, until when

    def claim(self, limit: int, handlers: Sequence[Handler]) -> tuple[list[dict[str, Any]], float]:
        """Runs for these handlers, and when they were asked for; none once stopped."""
        tries = 0
        for pause in pauses():
            sent_at = time.monotonic()
            try:
                return self._find(limit) or self._claim(min(limit, AT_ONCE), handlers), sent_at
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

    def give_back(self, attempts: Sequence[Attempt], seconds: float) -> set[str]:
        """Give back runs that no worker has begun; any executor may claim them after `seconds`.

        Returns the ids that were given back; the others return when their lease ends.
        """
        columns = [
            [a.id for a in attempts],
            [a.number for a in attempts],
            [a.worker_id for a in attempts],
        ]
        try:
            rows = self._link.once(GIVE_BACK, [seconds, seconds, *columns])
        except (psycopg.Error, LfSqlError) as error:
            log.warning("%s runs could not be given back: %s", len(attempts), words(error))
            return set()
        return {row["id"] for row in rows}

    def _claim(self, limit: int, handlers: Sequence[Handler]) -> list[dict[str, Any]]:
        ids = self._workflows.ids(handlers)
        if ids == []:
            return []
        self._count += 1
        worker_id = f"{self._name}:{self._count}"
        try:
            return self._link.once(CLAIM, [worker_id, limit, self._lease, ids])
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
        known = self._leases.known()  # before the question
        try:
            rows = self._link.once(FIND, [list(self._doubts)])
        except psycopg.Error as error:
            if kind_of(error) == "server":
                raise
            self._doubts = {}  # a role that may not look: their leases decide
            return []
        return [row for row in rows if (row["id"], row["worker_id"]) not in known][:limit]
