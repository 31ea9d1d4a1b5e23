"""The trace that a run is: the header traceparent of W3C Trace Context. Pure."""

from __future__ import annotations

import hashlib
from uuid import UUID


def traceparent(run_id: UUID | str, attempt: int) -> str:
    """The traceparent of an attempt of a run, as lenses.fn_run_traceparent computes it.

    The trace id is the run's id, the parent id the first 8 bytes of the SHA-256 of `RUN:ATTEMPT`;
    a 1 stands for an id of zeros alone, which W3C forbids. ValueError: no UUID.
    """
    run = run_id if isinstance(run_id, UUID) else UUID(run_id)
    parent = hashlib.sha256(f"{run}:{attempt}".encode()).digest()[:8]
    return f"00-{run.int or 1:032x}-{int.from_bytes(parent) or 1:016x}-01"
