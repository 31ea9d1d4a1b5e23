"""A run is one trace: the traceparent that everybody computes alike, and the spans of OpenTelemetry."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any
from uuid import UUID

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF
from opentelemetry.trace import SpanKind, StatusCode
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from lf_sql import Executor, Run, TransientError, webhook
from lf_sql.commands import Commands
from lf_sql.deliver import Endpoint
from lf_sql.executor import otel, spans, work
from lf_sql.executor.handlers import Handler
from lf_sql.traces import traceparent
from tests.executor.conftest import Place
from tests.executor.endpoint import Server
from tests.executor.test_deliver import SECRET, always
from tests.support.database import wait_until
from tests.support.webhooks import verified

RUNS = [
    "00000000-0000-0000-0000-000000000000",
    "00000000-0000-0000-0000-000000000001",
    "3f0c6f0e-6f0f-4c3e-9d5b-0c9a4a1f7a11",
    "ffffffff-ffff-ffff-ffff-ffffffffffff",
]
ATTEMPTS = [0, 1, 2, 2147483647]


def parent_of(header: str) -> trace.SpanContext:
    """What the reference says of a header; invalid where it is none."""
    context = TraceContextTextMapPropagator().extract({"traceparent": header})
    return trace.get_current_span(context).get_span_context()


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


class Spans:
    """What was exported."""

    def __init__(self, exporter: InMemorySpanExporter, tracer: trace.Tracer) -> None:
        self._exporter = exporter
        self.tracer = tracer

    def of(self, run: UUID, kind: SpanKind = SpanKind.CONSUMER) -> list[Any]:
        found = [s for s in self._exporter.get_finished_spans() if s.context.trace_id == run.int]
        return sorted((s for s in found if s.kind == kind), key=lambda s: s.start_time)


@pytest.fixture
def recorded(monkeypatch: pytest.MonkeyPatch) -> Iterator[Spans]:
    """As in a process that has set up the SDK."""
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    tracer = provider.get_tracer("a handler's")
    monkeypatch.setattr(otel, "TRACER", tracer)
    yield Spans(exporter, tracer)
    provider.shutdown()


@pytest.mark.parametrize("schema", ["lenses", "public"])
def test_database_and_library_compute_the_same(place: Place, schema: str) -> None:
    ours = {(run, n): traceparent(run, n) for run in RUNS for n in ATTEMPTS}
    rows = place.db.rows(
        f"select r::text as run, n, {schema}.fn_run_traceparent(r, n) as header "
        "from unnest(%s::uuid[]) as r cross join unnest(%s::int[]) as n",
        [RUNS, ATTEMPTS],
    )
    assert {(row.run, row.n): row.header for row in rows} == ours
    parents = {key: parent_of(header) for key, header in ours.items()}
    assert all(p.is_valid and p.trace_flags.sampled for p in parents.values())
    assert {run: parents[run, 1].trace_id for run in RUNS[1:]} == {r: UUID(r).int for r in RUNS[1:]}
    assert len({p.span_id for p in parents.values()}) == len(ours)


@pytest.mark.parametrize("is_async", [False, True])
def test_an_attempt_is_a_span_and_current_in_its_handler(
    place: Place, recorded: Spans, is_async: bool
) -> None:
    executor, passed_on = Executor(), []

    def plain(run: Run) -> None:
        passed_on.append(run.traceparent)
        with recorded.tracer.start_as_current_span("inside"):
            pass

    async def task(run: Run) -> None:
        await asyncio.sleep(0)
        plain(run)

    executor.default(task if is_async else plain)
    runs = place.start("spans\x1b", 3)
    place.all(executor)
    for run in runs:
        (span,) = recorded.of(run)
        (inside,) = recorded.of(run, SpanKind.INTERNAL)
        assert span.parent == parent_of(traceparent(run, 1)) and span.parent.is_remote
        assert inside.parent.span_id == span.context.span_id
        assert span.start_time <= inside.start_time and inside.end_time <= span.end_time
        assert span.name == r"run spans\x1b" and span.status.status_code == StatusCode.UNSET
        row = place.row(run)
        assert dict(span.attributes) == {
            "lf_sql.run_id": str(run),
            "lf_sql.attempt": 1,
            "lf_sql.workflow": r"spans\x1b",
            "lf_sql.workflow_id": str(row.workflow_id),
            "lf_sql.schedule_id": str(row.schedule_id),
            "lf_sql.lenser_id": str(place.owner.id),
            "lf_sql.trigger_mode": "manual",
            "lf_sql.status": "completed",
        }
    of_spans = {parent_of(header).span_id for header in passed_on}
    assert of_spans == {recorded.of(run)[0].context.span_id for run in runs}


def test_the_span_of_a_slot_has_the_slot_and_its_lag(place: Place, recorded: Spans) -> None:
    executor = Executor()
    executor.default(lambda run: None)
    (run,) = place.start("slot")
    place.db.execute(
        "insert into lenses.workflow_runs (lenser_id, workflow_id, schedule_id, scheduled_for, "
        "trigger_mode, status) select lenser_id, workflow_id, schedule_id, "
        "date_trunc('minute', now()) - interval '1 hour', 'backfill', 'pending' "
        "from lenses.workflow_runs where id = %s",
        [run],
    )
    place.all(executor)
    late = place.db.row("select * from lenses.workflow_runs where trigger_mode = 'backfill'")
    (span,) = recorded.of(late.id)
    assert span.attributes["lf_sql.scheduled_for"] == late.scheduled_for.isoformat()
    lag = (late.started_at - late.scheduled_for).total_seconds() * 1000
    assert abs(span.attributes["lf_sql.lag_ms"] - lag) < 1


def test_attempts_that_fail_are_errors_of_one_trace(place: Place, recorded: Spans) -> None:
    executor = Executor()

    @executor.default
    def handle(run: Run) -> Any:
        if run.inputs == "cancelled":
            place.cancel(run.id)
        elif run.inputs == "no JSON":
            return {1, 2}
        elif run.inputs == "raises":
            raise KeyError("day") if run.attempt == 1 else TransientError("no route")
        return None

    (raises,) = place.start("r", inputs="raises", maxRetries=1)
    (odd,), (lost,) = place.start("o", inputs="no JSON"), place.start("c", inputs="cancelled")
    place.all(executor)
    first, second = recorded.of(raises)
    parents = [span.parent.span_id for span in (first, second)]
    assert parents == [parent_of(traceparent(raises, n)).span_id for n in (1, 2)]
    told = {
        name: (span.attributes["lf_sql.status"], span.attributes["error.type"])
        for name, span in zip(
            "1234", [first, second, *recorded.of(odd), *recorded.of(lost)], strict=True
        )
    }
    assert told == {
        "1": ("failed", "KeyError"),
        "2": ("failed", "provider_error"),
        "3": ("failed", "contract_violated"),
        "4": ("lost", "lost"),
    }
    assert first.status.status_code == second.status.status_code == StatusCode.ERROR
    assert second.status.description == "failed: no route"
    (event,) = first.events
    assert (event.name, event.attributes["exception.type"]) == ("exception", "KeyError")
    assert "day" in event.attributes["exception.message"]


def test_a_handler_that_outlives_its_attempt_adds_nothing_to_its_span(
    place: Place, recorded: Spans, monkeypatch: pytest.MonkeyPatch, caplog: Any
) -> None:
    monkeypatch.setattr(work, "GRACE", 0.0)
    executor = Executor()

    @executor.default
    def handle(run: Run) -> None:
        wait_until(lambda: place.row(run.id).status == "failed")
        raise KeyError("late")

    (run,) = place.start("late", timeoutMs=1000)
    place.all(executor)
    (span,) = recorded.of(run)
    assert (span.attributes["error.type"], list(span.events)) == ("timeout", [])
    assert "ended span" not in caplog.text


def test_what_the_sampler_drops_is_passed_on_as_dropped(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    tracer = TracerProvider(sampler=ALWAYS_OFF).get_tracer("none")
    monkeypatch.setattr(otel, "TRACER", tracer)
    executor, seen = Executor(), []
    executor.default(lambda run: seen.append(run.traceparent))
    (run,) = place.start("dropped")
    place.all(executor)
    parent = parent_of(seen[0])
    assert (parent.trace_id, parent.trace_flags.sampled) == (run.int, False)


class Broken(SpanProcessor):
    def on_start(self, span: Any, parent_context: Any = None) -> None:
        raise OSError("no room")

    def on_end(self, span: ReadableSpan) -> None:
        raise OSError("no room")


class BrokenLater(Broken):
    def on_start(self, span: Any, parent_context: Any = None) -> None: ...


class Ending(Broken):
    def on_start(self, span: Any, parent_context: Any = None) -> None:
        raise SystemExit("OSError: no room")


class EndingLater(BrokenLater):
    def on_end(self, span: ReadableSpan) -> None:
        raise SystemExit("OSError: no room")


@pytest.mark.parametrize("broken", [Broken, BrokenLater, Ending, EndingLater])
def test_a_tracer_that_fails_stops_no_run(
    place: Place, monkeypatch: pytest.MonkeyPatch, caplog: Any, broken: type[Broken]
) -> None:
    provider = TracerProvider()
    provider.add_span_processor(broken())
    monkeypatch.setattr(otel, "TRACER", provider.get_tracer("broken"))
    with Server({"/fine": always("200 OK", "{}")}) as server:
        executor = Executor()
        executor.handlers.add(Handler.of(Endpoint(f"{server.url}/fine", [], 60.0), 1), "deliver")
        executor.handlers.add(Handler.of(lambda run: 7, 1), "plain")
        (deliver,), (plain,) = place.start("deliver"), place.start("plain")
        place.all(executor)
        (request,) = server.requests("/fine")
    assert (place.row(deliver).status, place.result(plain)) == ("completed", 7)
    assert parent_of(request.headers["traceparent"]).trace_id == deliver.int
    assert "a span was not recorded: " in caplog.text and "OSError: no room" in caplog.text


def without_the_api(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spans, "_otel", lambda: None)


def without_an_sdk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(otel, "TRACER", trace.NoOpTracer())


@pytest.mark.parametrize("without", [without_the_api, without_an_sdk])
def test_without_spans_the_header_is_that_of_the_database(
    place: Place, monkeypatch: pytest.MonkeyPatch, without: Callable[..., None]
) -> None:
    without(monkeypatch)
    executor, seen = Executor(), []
    with Server({"/fine": always("200 OK", "{}")}) as server:
        endpoint = Endpoint(f"{server.url}/fine", webhook.keys_of(SECRET), 60.0)
        executor.handlers.add(Handler.of(endpoint, 1), "deliver")
        executor.handlers.add(Handler.of(lambda run: seen.append(run.traceparent), 1), "plain")
        (deliver,), (plain,) = place.start("deliver"), place.start("plain")
        place.all(executor)
        (request,) = server.requests("/fine")
    assert seen == [traceparent(plain, 1)]
    assert request.headers["traceparent"] == traceparent(deliver, 1)
    assert verified(SECRET, request.body, request.headers) == request.json


def test_a_request_is_a_span_of_its_own(place: Place, recorded: Spans) -> None:
    answers = {
        "/fine": always("200 OK", "{}"),
        "/left": always("202 Accepted"),
        "/down": always("503 Service Unavailable"),
        "/closes": closes,
    }
    executor = Executor()
    with Server({f"{path}?key=secret": answer for path, answer in answers.items()}) as server:
        runs = {}
        for path in answers:
            url = f"{server.url.replace('//', '//user:secret@')}{path}?key=secret"
            endpoint = Endpoint(url, webhook.keys_of(SECRET), 60.0)
            executor.handlers.add(Handler.of(endpoint, 1), path)
            (runs[path],) = place.start(path)
        place.all(executor)
        sent = {path: server.requests(f"{path}?key=secret")[0] for path in answers}
    found = {}
    for path, run in runs.items():
        (span,), (request,) = recorded.of(run), recorded.of(run, SpanKind.CLIENT)
        assert request.parent.span_id == span.context.span_id
        assert parent_of(sent[path].headers["traceparent"]).span_id == request.context.span_id
        assert request.attributes["url.full"] == server.url + path
        assert request.attributes["server.port"] == int(server.url.rpartition(":")[2])
        assert "secret" not in span.to_json() + request.to_json()
        attributes = [
            request.attributes.get(n) for n in ("http.response.status_code", "error.type")
        ]
        found[path] = (span.attributes["lf_sql.status"], *attributes, request.status.status_code)
    assert verified(SECRET, sent["/fine"].body, sent["/fine"].headers) == sent["/fine"].json
    assert found == {
        "/fine": ("completed", 200, None, StatusCode.UNSET),
        "/left": ("left", 202, None, StatusCode.UNSET),
        "/down": ("failed", 503, "503", StatusCode.ERROR),
        "/closes": ("failed", None, "RemoteProtocolError", StatusCode.ERROR),
    }


async def closes(_: Server, __: Any) -> None:
    return None


@pytest.mark.parametrize("is_recorded", [False, True])
def test_a_command_finds_it_in_its_environment(
    place: Place, request: Any, monkeypatch: pytest.MonkeyPatch, is_recorded: bool
) -> None:
    """Not the trace that the executor's own process is part of."""
    spans = request.getfixturevalue("recorded") if is_recorded else None
    monkeypatch.setenv("TRACEPARENT", traceparent(RUNS[2], 1))
    monkeypatch.setenv("TRACESTATE", "other=1")
    executor = Executor()
    script = 'printf \'["%s", "%s"]\' "$TRACEPARENT" "$TRACESTATE"'
    commands = Commands(["sh", "-c", script], place.dsn, executor.ask)
    executor.handlers.add(Handler.of(commands, 1, keeps_time=True))
    (run,) = place.start("command")
    place.all(executor)
    commands.close()
    given, state = place.result(run)
    assert state == ""
    if spans is None:
        assert given == traceparent(run, 1)
    else:
        assert parent_of(given).span_id == spans.of(run)[0].context.span_id


IMPORTS = """
import json, sys
import lf_sql.cli, lf_sql.deliver, lf_sql.testing
loaded = [name for name in sys.modules if name.startswith("opentelemetry")]
sys.modules["opentelemetry"] = None
from lf_sql.executor import spans
print(json.dumps([loaded, spans._otel()]))
"""


def test_it_is_imported_only_where_runs_are_done_and_may_be_missing() -> None:
    done = subprocess.run([sys.executable, "-c", IMPORTS], capture_output=True, text=True)
    assert (done.stderr, json.loads(done.stdout)) == ("", [[], None])
