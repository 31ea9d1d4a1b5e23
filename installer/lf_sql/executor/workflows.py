"""Whose runs to claim: the workflows that handlers are for, as they are called now."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from lf_sql.executor.handlers import Handler, Handlers
from lf_sql.executor.log import log
from lf_sql.link import Link
from lf_sql.plain import plain

MOST = 1000  # workflows that a claim can name
FRESH = 1.0  # seconds for which an answer is good: titles change, and workflows are made

NAMED = """
select w.id::text as workflow_id, w.title, w.kind
from lenses.workflows as w
where w.id = any (%s::uuid[]) or w.title = any (%s::text[]) or w.kind = any (%s::text[])
limit %s
"""


class Workflows:
    """For one thread, which claims."""

    def __init__(self, handlers: Handlers, link: Link, fresh: float = FRESH) -> None:
        self._handlers = handlers
        self._link = link
        self._fresh = fresh
        self._rows: list[dict[str, Any]] = []
        self._read_at = float("-inf")
        self._is_old = False  # the answer that the last claim went by
        self._missed: set[str] = set()  # handlers without a workflow, said so

    @property
    def look_again(self) -> float:
        """Seconds after which a claim may know of more workflows than the last; 0: it knew all."""
        return max(self._read_at + self._fresh - time.monotonic(), 0.01) if self._is_old else 0.0

    def ids(self, handlers: Sequence[Handler]) -> list[str] | None:
        """Of the workflows that are for one of these; None: claim of all."""
        self._is_old = False
        if self._handlers.default in handlers:
            return None
        self._is_old = time.monotonic() < self._read_at + self._fresh
        if not self._is_old:
            self._read()
        if len(self._rows) > MOST:
            return None
        return [row["workflow_id"] for row in self._rows if self._handlers.find(row) in handlers]

    def _read(self) -> None:
        ids, titles, kinds = self._handlers.keys()
        self._rows = self._link.once(NAMED, [ids, titles, kinds, MOST + 1])
        self._read_at = time.monotonic()
        if len(self._rows) > MOST:
            return
        there = {key for row in self._rows for key in (row["workflow_id"], row["title"])}
        missed = {key for key in [*ids, *titles] if key not in there}
        for key in sorted(missed - self._missed):
            log.warning('there is no workflow "%s" yet; its handler waits for one', plain(key))
        self._missed = missed
