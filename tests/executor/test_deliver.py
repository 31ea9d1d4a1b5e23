"""lf-sql runs deliver: every way in which an endpoint can answer, and what becomes of the run."""

from __future__ import annotations

import base64
import json
import os
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from email.utils import format_datetime
from typing import Any

import pytest
from standardwebhooks import Webhook

from lf_sql import Executor, webhook
from lf_sql.deliver import Endpoint, is_url
from lf_sql.executor.handlers import Handler
from tests.executor.conftest import Place, at_work
from tests.executor.endpoint import JSON, Request, Server, answer
from tests.support.cli import lf_sql, process
from tests.support.database import wait_until
from tests.support.processes import running
from tests.support.retry_after import ASKS, NOW
from tests.support.webhooks import verified_all

SECRET = "whsec_" + base64.b64encode(bytes(range(32))).decode()
OTHER = "whsec_" + base64.b64encode(bytes(range(1, 41))).decode()


def always(status: str, body: bytes | str = b"", *headers: str) -> Callable[..., Any]:
    async def behave(_: Server, __: Request) -> bytes:
        return answer(status, body, JSON, *headers)

    return behave


async def never(server: Server, _: Request) -> None:
    await server.gate.wait()


async def closes(_: Server, __: Request) -> None:
    return None


async def drips(server: Server, _: Request) -> bytes:
    """A head, and a body that never ends."""
    return b"HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\n{"


async def half(_: Server, __: Request) -> bytes:
    return b"HTTP/1.1 200 OK\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n"


HUGE = json.dumps({"x": "y" * 5_000_000})
# Path: how it answers; the run's status; its cause; what its error says, or its result.
ANSWERS: dict[str, tuple[Callable[..., Any], str, str | None, Any]] = {
    "/fine": (always("200 OK", '{"rows": 3}'), "completed", None, {"rows": 3}),
    "/big": (always("200 OK", json.dumps({"x": "y" * 900_000})), "completed", None, {"x": "y" * 900_000}),
    "/exact": (always("200 OK", '{"n": 12345678901234567890.5}'), "completed", None, {"n": 12345678901234567890.5}),
    "/left": (always("202 Accepted"), "running", None, None),
    "/broken": (always("200 OK", '{"rows": '), "failed", "contract_violated", 'without a JSON object: {"rows":'),
    "/list": (always("200 OK", "[1]"), "failed", "contract_violated", "without a JSON object: [1]"),
    "/nan": (always("200 OK", '{"a": NaN}'), "failed", "contract_violated", "without a JSON object"),
    "/deep": (always("200 OK", '{"a":' * 90 + "1" + "}" * 90), "failed", "contract_violated", "refused by the database"),
    "/zero": (always("200 OK", '{"a": "\\u0000"}'), "failed", "contract_violated", "refused by the database"),
    "/empty": (always("200 OK"), "failed", "contract_violated", "without a JSON object"),
    "/created": (always("201 Created", "{}"), "failed", "contract_violated", "answered 201: {}"),
    "/huge": (always("200 OK", HUGE), "failed", "contract_violated", "more than 1048576 bytes"),
    "/plain": (always("200 OK", '{"rows": 4}', "content-encoding: Identity"), "completed", None, {"rows": 4}),
    "/bomb": (always("200 OK", b"x", "content-encoding: gzip"), "failed", "contract_violated", "compressed"),
    "/moved": (always("307 Temporary Redirect", "", "location: /fine"), "failed", "contract_violated", "answered 307"),
    "/gone": (always("410 Gone", "no\nsuch\x1b[31m job"), "failed", "contract_violated", "answered 410: no\\nsuch\\x1b[31m job"),
    "/long": (always("400 Bad", "z" * 100_000), "failed", "contract_violated", "z" * 300),
    "/slow": (always("408 Request Timeout"), "failed", "timeout", "answered 408"),
    "/early": (always("425 Too Early"), "failed", "rate_limit", "answered 425"),
    "/many": (always("429 Too Many Requests"), "failed", "rate_limit", "answered 429"),
    "/down": (always("503 Service Unavailable", "later"), "failed", "provider_error", "answered 503: later"),
    "/never": (never, "failed", "timeout", "no answer within"),
    "/drips": (drips, "failed", "timeout", "no answer within"),
    "/closes": (closes, "failed", "provider_error", "no answer: "),
    "/half": (half, "failed", "provider_error", "no answer: "),
}  # fmt: skip


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with Server({path: given[0] for path, given in ANSWERS.items()}) as server:
        yield server


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


def deliverer(server: Server, *paths: str, limit: int = 20, timeout: float = 120.0) -> Executor:
    """An executor that gives runs of the workflow PATH to that path."""
    executor = Executor(concurrency=limit * len(paths), lease=60, poll=0.2)
    for path in paths:
        endpoint = Endpoint(server.url + path, webhook.keys_of(SECRET), timeout)
        executor.handlers.add(Handler.of(endpoint, limit), path)
    return executor


def test_every_answer_has_its_meaning(place: Place, server: Server) -> None:
    """All of them side by side, each from its own endpoint."""
    ending = [path for path in ANSWERS if ANSWERS[path][2] != "timeout" or path == "/slow"]
    endless = [path for path in ANSWERS if path not in ending]
    runs = {path: place.start(path)[0] for path in ANSWERS}
    executor = deliverer(server, *ending)
    for path in endless:
        handler = Handler.of(Endpoint(server.url + path, webhook.keys_of(SECRET), 2.0), 1)
        executor.handlers.add(handler, path)
    place.all(executor)
    for path, (_, status, cause, said) in ANSWERS.items():
        row = place.row(runs[path])
        result = row.metadata.get("result")
        assert row.status == status, (path, result)
        if cause is None:
            assert result == said, path
        else:
            assert result["cause"] == cause, (path, result)
            assert said in result["error"], (path, result)
            assert len(result["error"]) < 500, path
        assert len(server.requests(path)) == 1, path
        assert "Traceback" not in str(result)


def test_the_references_verify_what_it_gets(place: Place, server: Server) -> None:
    (run,) = place.start("/fine", inputs={"day": "ünïcode"})
    before = len(server.requests("/fine"))
    place.all(deliverer(server, "/fine"))
    (request,) = server.requests("/fine")[before:]
    cases = [
        (SECRET, request.body),
        (SECRET, request.body + b" "),
        (OTHER, request.body),
    ]
    found = verified_all([(*case, request.headers) for case in cases])
    assert found == [request.json, None, None]
    given = request.json
    assert (given["id"], given["attempt"], given["context_inputs"]) == (
        str(run),
        1,
        {"day": "ünïcode"},
    )
    assert given["definition"] == {"nodes": [], "edges": []} and given["worker_id"]
    assert request.headers["webhook-id"] == f"{run}:1"
    assert request.headers["content-type"] == "application/json"
    assert "cookie" not in request.headers


def test_a_run_that_is_left_is_completed_by_its_endpoint(place: Place, server: Server) -> None:
    (run,) = place.start("/left")
    before = len(server.requests("/left"))
    (outcome,) = place.all(deliverer(server, "/left"))
    assert outcome.status == "left"
    given = server.requests("/left")[before].json
    assert place.db.value(
        "select lenses.fn_complete_workflow_run(%s, %s, '{\"later\": 1}', 2, %s)",
        [given["id"], given["worker_id"], given["attempt"]],
    )
    assert (place.row(run).status, place.result(run)) == ("completed", {"later": 1})


def test_retry_after_is_kept(place: Place) -> None:
    at = datetime(2100, 1, 1, tzinfo=UTC)
    soon = datetime.fromtimestamp(int(time.time()) + 7200, UTC)
    asks = {
        "/seconds": ("429 Too Many Requests", "3600"),
        "/date": ("503 Service Unavailable", format_datetime(soon, usegmt=True)),
        "/far": ("408 Request Timeout", format_datetime(at, usegmt=True)),
        "/odd": ("429 Too Many Requests", "tomorrow"),
    }
    behaviours = {path: always(s, "", f"retry-after: {wait}") for path, (s, wait) in asks.items()}
    with Server(behaviours) as server:
        runs = {path: place.start(path, maxRetries=2)[0] for path in asks if path != "/odd"}
        (odd,) = place.start("/odd", maxRetries=1)
        begun = datetime.now(UTC)
        place.all(deliverer(server, *asks))
        waits = {path: place.row(run).available_at for path, run in runs.items()}
        assert (waits["/seconds"] - begun).total_seconds() >= 3600
        assert abs((waits["/date"] - soon).total_seconds()) < 600
        assert 86_400 <= (waits["/far"] - begun).total_seconds() < 90_000  # a day at most
        assert {place.row(run).status for run in runs.values()} == {"pending"}
        assert len(server.requests("/odd")) == 2  # as the policy alone says
        assert place.row(odd).status == "failed"


def test_what_another_attempt_would_get_again_is_tried_once(place: Place) -> None:
    """Unless the policy names the cause."""
    behaviours = {"/gone": always("410 Gone"), "/list": always("200 OK", "[]")}
    with Server(behaviours) as server:
        for path in behaviours:
            place.start(path, maxRetries=2)
            place.start(path, maxRetries=2, retryOn=["contract_violated"])
        place.all(deliverer(server, *behaviours))
        assert {len(server.requests(path)) for path in behaviours} == {1 + 3}


def test_credits_of_an_answer_are_booked(place: Place) -> None:
    spends = always("200 OK", '{"spent_credits": 1.5}')
    fails = always("500 Oh", '{"spent_credits": 0.25}')
    with Server({"/spends": spends, "/fails": fails}) as server:
        (good,), (bad,) = place.start("/spends"), place.start("/fails", maxRetries=1)
        place.all(deliverer(server, "/spends", "/fails"))
        assert (place.row(good).spent_credits, place.row(bad).spent_credits) == (1.5, 0.5)


MANY, FEW = '{"spent_credits": 1e999999999}', '{"spent_credits": 1e-999999999}'


@pytest.mark.parametrize("text", [MANY, '{"spent_credits": 1e20}'])
def test_credits_that_nobody_can_have_spent_fail_as_contract_violated(
    place: Place, text: str
) -> None:
    """In plain words, and as all that violates the contract not again unless the policy says so."""
    with Server({"/many": always("200 OK", text)}) as server:
        (run,) = place.start("/many", maxRetries=2)
        (again,) = place.start("/many", maxRetries=2, retryOn=["contract_violated"])
        place.all(deliverer(server, "/many"), hurry=True)
        assert len(server.requests("/many")) == 1 + 3
    for one in (run, again):
        row = place.row(one)
        result = row.metadata["result"]
        assert (row.status, row.spent_credits) == ("failed", 0)
        assert result["cause"] == "contract_violated"
        assert "refused by the database" in result["error"]
        assert "decimal" not in result["error"] and len(result["error"]) < 500


def test_such_credits_change_no_other_answer(place: Place) -> None:
    answers = {
        "/down": always("503 Oh", MANY),
        "/left": always("202 Accepted", MANY),
        "/few": always("200 OK", FEW),
    }
    with Server(answers) as server:
        down, left, few = (place.start(path)[0] for path in answers)
        place.all(deliverer(server, *answers))
        assert place.row(down).metadata["result"]["cause"] == "provider_error"
        assert place.row(left).status == "running"
        assert place.row(few).status in ("completed", "failed")
        assert place.row(few).spent_credits == 0


def test_many_are_in_flight_and_a_slow_endpoint_holds_up_no_other(place: Place) -> None:
    """The slow one's runs are older, and more than it may have at once: they take its places alone."""

    async def together(server: Server, _: Request) -> bytes:
        await server.gate.wait()
        return answer("200 OK", "{}")

    with Server({"/slow": together, "/quick": always("200 OK", "{}")}) as server:
        slow = place.start("/slow", 205)
        quick = place.start("/quick", 5)
        executor = deliverer(server, "/slow", "/quick", limit=200)
        executor.dsn = place.dsn
        with at_work(executor):
            for run in quick:
                assert place.ended(run).status == "completed"
            wait_until(lambda: server.open["/slow"] == 200)
            done = "select count(*) from lenses.workflow_runs where id = any(%s) and status = 'completed'"
            assert place.db.value(done, [slow]) == 0
            server.let_go()
            wait_until(lambda: place.db.value(done, [slow]) >= 200)
        assert server.most == 200


def test_as_a_command(place: Place, server: Server) -> None:
    (fine,), (other,) = place.start("/fine"), place.start("/other")
    before = len(server.requests("/fine"))
    arguments = ("runs", "deliver", "--once", "--route", f"/fine={server.url}/fine")
    said = process(*arguments, dsn=place.dsn)
    assert said.returncode == 1 and "LF_SQL_WEBHOOK_SECRET is not set" in said.stderr
    assert len(server.requests("/fine")) == before
    env = {"LF_SQL_WEBHOOK_SECRET": f"{OTHER} {SECRET}"}
    with running(place.dsn, *arguments, env=env) as command:
        assert command.ends(60) == 0, command.output
        assert "1 completed, 0 failed\n" in command.output
    assert (place.row(fine).status, place.row(other).status) == ("completed", "pending")
    request = server.requests("/fine")[-1]
    for secret in (SECRET, OTHER):
        assert Webhook(secret).verify(request.body, request.headers)


@pytest.mark.parametrize(
    ("arguments", "secret", "said"),
    [
        ((), SECRET, "give --url URL"),
        (("--url", "ftp://x/"), SECRET, "an http or https URL is wanted"),
        (("--route", "nothing"), SECRET, "TITLE=URL is wanted"),
        (("--lease", "2d", "--url", "http://x"), SECRET, "--lease must be 1s to 1d, not 2d"),
        (("--lease", "999ms", "--url", "http://x"), SECRET, "--lease must be 1s to 1d, not 999ms"),
        (("--timeout", "0s", "--url", "http://x"), SECRET, "--timeout must be a millisecond"),
        (("--url", "http://x"), "whsec_c2hvcnQ=", "24 to 64 bytes, not 5"),
        (("--url", "http://x"), "no base64 at all!", "whsec_ and base64"),
        (("--route", "a=http://x", "--route", "a=http://y"), SECRET, "a handler for 'a' already"),
    ],
)
def test_wrong_use(arguments: tuple[str, ...], secret: str, said: str, monkeypatch: Any) -> None:
    monkeypatch.setitem(os.environ, "LF_SQL_WEBHOOK_SECRET", secret)
    found = lf_sql("runs", "deliver", "--once", *arguments, dsn="host=/nowhere")
    assert found.returncode in (1, 2) and said in found.stderr and secret not in found.stderr


BAD_URLS = [
    "", "x", "ftp://x/", "http://", "http:///x", "http://exa mple/", "http://h/a b", " http://h/",
    "http://h/a\nb", "http://h/\t", "http://h/\x7f", "http://h/\u2028", "http://h/\u00a0",
    "http://xn--/", "http://xn--a/", "http://xn--ls8h.la/", "http://\u2603.net/", "http://a..b/",
    "http://.a/", "http://a%20b/", "http://h\\x/", f"http://{'a' * 64}.de/", "http://[v1.x]/",
    "http://[::1", "http://1.2.3.999/", "http://h:0/", "http://h:65536/", "http://h:x/",
    f"http://h/{'a' * 70_000}",
]  # fmt: skip
GOOD_URLS = [
    "http://h", "https://h.example.org./a?b=c#d", "HTTP://H:8080/", "http://u:p@h/", "http://x_y/",
    "http://127.0.0.1:1/", "http://[::1]:8080/", "http://[fe80::1%25eth0]/", "http://fa\u00df.de/",
    "http://xn--tda.de/", "http://h/\u00fc?\u00fc=%zz", f"http://{'a' * 63}.de/",
]  # fmt: skip


@pytest.mark.parametrize("url", BAD_URLS, ids=[ascii(url)[:30] for url in BAD_URLS])
def test_a_url_that_no_request_can_have_is_wrong_use(url: str, monkeypatch: Any) -> None:
    """Before a run is claimed, and burnt."""
    monkeypatch.setitem(os.environ, "LF_SQL_WEBHOOK_SECRET", SECRET)
    asks = [("--url", url)]
    asks += [("--route", f"t={url}")] if url.startswith("http://") and url != "http://" else []
    for given in asks:
        found = lf_sql("runs", "deliver", "--once", *given, dsn="host=/nowhere")
        assert (found.returncode, found.stdout) == (2, ""), found.stderr
        assert "an http or https URL is wanted, not " in found.stderr


@pytest.mark.parametrize("url", GOOD_URLS, ids=ascii)
def test_a_url_that_a_request_can_have(url: str) -> None:
    assert is_url(url)


def test_unsigned_where_somebody_says_so(place: Place, server: Server, monkeypatch: Any) -> None:
    monkeypatch.delenv("LF_SQL_WEBHOOK_SECRET", raising=False)
    place.start("/fine")
    before = len(server.requests("/fine"))
    args = (
        "runs",
        "deliver",
        "--once",
        "--unsigned",
        "--url",
        f"{server.url}/fine",
        "--workflow",
        "/fine",
    )
    with running(place.dsn, *args) as command:
        assert command.ends(60) == 0, command.output
    (request,) = server.requests("/fine")[before:]
    assert "webhook-signature" not in request.headers and request.headers["webhook-timestamp"]


def test_retry_after_as_http_has_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the zone of the machine; the database reads the same."""
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    time.tzset()
    try:
        found = {text: webhook.retry_after(text, NOW.timestamp()) for text in ASKS}
    finally:
        monkeypatch.undo()
        time.tzset()
    assert found == ASKS
    assert webhook.retry_after(None) is None
