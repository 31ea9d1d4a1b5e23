"""Spans by the API of OpenTelemetry. Whether and where they are exported is the process's choice.

Nobody exports the parent of an attempt's span, the traceparent that the database computes: it
connects the attempts of a run, in whichever processes they are. A tracer that fails stops no run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import wraps
from typing import Any, ParamSpec, TypeVar
from urllib.parse import urlsplit

from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.trace import SpanContext, SpanKind, Status, StatusCode, TraceFlags
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from lf_sql import __version__
from lf_sql.executor.log import log
from lf_sql.executor.run import Run
from lf_sql.executor.spans import Span
from lf_sql.plain import plain

P = ParamSpec("P")
T = TypeVar("T")

PORTS = {"http": 80, "https": 443}
TRACER = trace.get_tracer("lf_sql", __version__)
W3C = TraceContextTextMapPropagator()


def begin(run: Run, claimed_at: int) -> Span:
    """The span of an attempt that was claimed then, in nanoseconds since 1970."""
    try:
        return _begin(run, claimed_at)
    except BaseException as error:
        _complain(error)
        return run.span


def _begin(run: Run, claimed_at: int) -> Span:
    header, title = run.traceparent, plain(run.workflow)
    span = TRACER.start_span(
        f"run {title}".strip(),
        context=_parent(header),
        kind=SpanKind.CONSUMER,
        attributes={
            "lf_sql.run_id": run.lease.id,
            "lf_sql.attempt": run.attempt,
            "lf_sql.workflow": title,
        },
        start_time=claimed_at,
    )
    if span.is_recording():
        span.set_attributes(_attributes(run))
    return Recorded(span, header)


def _parent(header: str) -> Context:
    _, trace_id, span_id, flags = (int(part, 16) for part in header.split("-"))
    parent = SpanContext(trace_id, span_id, is_remote=True, trace_flags=TraceFlags(flags))
    return trace.set_span_in_context(trace.NonRecordingSpan(parent))


def _attributes(run: Run) -> dict[str, str | int]:
    found: dict[str, str | int] = {
        "lf_sql.lenser_id": str(run.lenser_id),
        "lf_sql.trigger_mode": run.trigger_mode,
        "lf_sql.workflow_id": str(run.workflow_id),
    }
    if run.schedule_id is not None:
        found["lf_sql.schedule_id"] = str(run.schedule_id)
    if run.slot is not None:
        found["lf_sql.scheduled_for"] = run.slot.isoformat()
        found["lf_sql.lag_ms"] = round((run.started_at - run.slot).total_seconds() * 1000)
    return found


def _complain(error: BaseException) -> None:
    log.warning("a span was not recorded: %s: %s", type(error).__name__, error)


def _harmless(method: Callable[P, None]) -> Callable[P, None]:
    """The method, which raises nothing."""

    @wraps(method)
    def tried(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            method(*args, **kwargs)
        except BaseException as error:
            _complain(error)

    return tried


class Recorded(Span):
    """A span of OpenTelemetry."""

    def __init__(self, span: trace.Span, parent: str) -> None:
        self._span = span
        self._parent = parent

    @property
    def headers(self) -> dict[str, str]:
        found = {"traceparent": self._parent}  # for a tracer that makes no spans
        W3C.inject(found, trace.set_span_in_context(self._span))
        return found

    def current(self) -> AbstractContextManager[object]:
        return trace.use_span(
            self._span, end_on_exit=False, record_exception=False, set_status_on_exception=False
        )

    def post(self, url: str) -> AbstractContextManager[Span]:
        try:
            span = TRACER.start_span(
                "POST",
                context=trace.set_span_in_context(self._span),
                kind=SpanKind.CLIENT,
                attributes=_target(url),
            )
            return _request(Recorded(span, self._parent))
        except BaseException as error:
            _complain(error)
            return nullcontext(self)

    @_harmless
    def answered(self, status: int) -> None:
        self._span.set_attribute("http.response.status_code", status)
        if status >= 400:
            self._span.set_attribute("error.type", str(status))
            self._span.set_status(Status(StatusCode.ERROR))

    @_harmless
    def raised(self, error: BaseException) -> None:
        if self._span.is_recording():  # not where the attempt ended before its handler
            self._span.record_exception(error)

    @_harmless
    def end(self, status: str, cause: str | None, said: str) -> None:
        self._span.set_attribute("lf_sql.status", status)
        if status not in ("completed", "left"):
            self._span.set_attribute("error.type", cause or status)
            self._span.set_status(Status(StatusCode.ERROR, said))
        self._span.end()

    @_harmless
    def end_request(self, error: BaseException | None) -> None:
        """The answer is there, or what came instead."""
        if error is not None:
            self._span.record_exception(error)
            self._span.set_attribute("error.type", type(error).__qualname__)
            self._span.set_status(Status(StatusCode.ERROR))
        self._span.end()


@contextmanager
def _request(span: Recorded) -> Iterator[Span]:
    error: BaseException | None = None
    try:
        with span.current():
            yield span
    except BaseException as raised:
        error = raised
        raise
    finally:
        span.end_request(error)


def _target(url: str) -> dict[str, Any]:
    """Whom it asks, without what could be a secret in the URL's user or query."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    address = f"[{host}]" if ":" in host else host
    port = f":{parts.port}" if parts.port else ""
    return {
        "http.request.method": "POST",
        "server.address": host,
        "server.port": parts.port or PORTS.get(parts.scheme, 0),
        "url.full": f"{parts.scheme}://{address}{port}{parts.path or '/'}",
    }
