"""What an attempt adds to its run's trace: spans where OpenTelemetry's API is, else none."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from functools import cache
from types import ModuleType
from typing import TYPE_CHECKING

from lf_sql.traces import traceparent

if TYPE_CHECKING:
    from lf_sql.executor.run import Run


class Span:
    """A part of the trace; this one is not recorded. Every method may be called from any thread."""

    def __init__(self, run_id: str, attempt: int) -> None:
        self._run_id = run_id
        self._attempt = attempt

    @property
    def headers(self) -> dict[str, str]:
        """`traceparent`, and perhaps `tracestate`, for whatever is asked to do a part of it."""
        return {"traceparent": traceparent(self._run_id, self._attempt)}

    def current(self) -> AbstractContextManager[object]:
        """Within it what this thread or task does belongs to the span."""
        return nullcontext()

    def post(self, url: str) -> AbstractContextManager[Span]:
        """The span of one HTTP request."""
        return nullcontext(self)

    def answered(self, status: int) -> None:
        """The status of the answer to that request."""

    def raised(self, error: BaseException) -> None:
        """What the handler raised."""

    def end(self, status: str, cause: str | None, said: str) -> None:
        """What became of the attempt, and why, where it was not `completed` or `left`."""


def begin(run: Run, claimed_at: int) -> Span:
    """The span of an attempt that was claimed then, in nanoseconds since 1970."""
    otel = _otel()
    return run.span if otel is None else otel.begin(run, claimed_at)


@cache
def _otel() -> ModuleType | None:
    try:
        from lf_sql.executor import otel
    except ImportError:
        return None
    return otel
