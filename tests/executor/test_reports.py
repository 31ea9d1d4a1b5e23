"""What is told of attempts while the server comes and goes: in order, each once accepted."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from typing import Any

import psycopg
import pytest

from lf_sql.executor.failures import Verdict
from lf_sql.executor.leases import Attempt
from lf_sql.executor.reports import Item, Reports
from lf_sql.link import Outage
from tests.support.database import wait_until


class Server:
    """In the place of a link: refuses the first `away` statements, then takes all."""

    def __init__(self, away: int) -> None:
        self.away = away
        self.told: list[str] = []

    def once(self, query: str, params: Any = (), who: str | None = None) -> list[dict[str, Any]]:
        if self.away:
            self.away -= 1
            raise psycopg.OperationalError("the connection is gone")
        if "fn_append_run_event" in query:
            self.told += [event["event_type"] for event in json.loads(params[0])]
            return []
        if "fn_complete_workflow_runs" in query:
            ids = [result["run_id"] for result in json.loads(params[1])]
            self.told += [f"end {id}" for id in ids]
            return [{"id": id} for id in ids]
        self.told.append(f"end {params[0]}")
        return [{"is_ours": True}]

    def run(self, work: Callable[..., Any], who: str | None = None) -> Any:
        raise AssertionError("nothing fails here")


def attempt(id: str) -> Attempt:
    row = {"id": id, "attempt": 1, "worker_id": "w", "lease_left": None}
    return Attempt(row, time.monotonic(), 60)


@pytest.mark.parametrize("away", [0, 1, 5])
def test_of_an_attempt_in_order_whatever_the_server_does(away: int) -> None:
    server, gone = Server(away), threading.Event()
    reports = Reports(server, Outage(lambda _: None), gone)  # type: ignore[arg-type]
    ended: list[tuple[Verdict | None, Exception | None]] = []
    first, second = attempt("a"), attempt("b")
    for number in range(5):
        reports.put(Item(first, event=(f"n{number}", "{}")))
        reports.put(Item(second, event=(f"m{number}", "{}")))
    for one in (first, second):
        reports.put(Item(one, lambda *end: ended.append(end), Verdict(None, '"done"')))
    reports.start()
    reports.close()
    for letter, id in (("n", "a"), ("m", "b")):
        mine = [word for word in server.told if word[0] == letter or word == f"end {id}"]
        assert mine == [*(f"{letter}{number}" for number in range(5)), f"end {id}"]
    assert ended == [(Verdict(None, '"done"'), None)] * 2


def test_nothing_is_waited_for_once_everybody_has_gone() -> None:
    server, gone = Server(10**9), threading.Event()
    reports = Reports(server, Outage(lambda _: None), gone)  # type: ignore[arg-type]
    ended: list[tuple[Verdict | None, Exception | None]] = []
    reports.put(Item(attempt("a"), lambda *end: ended.append(end), Verdict(None, "1")))
    reports.start()
    wait_until(lambda: server.away < 10**9)
    gone.set()
    reports.leave()
    reports.close()
    ((told, error),) = ended
    assert told is None and "the connection is gone" in str(error)


@pytest.mark.parametrize("ends", [1, 3])  # one call each, and one call for all
@pytest.mark.parametrize("error", [SystemExit, ValueError])
def test_who_does_not_want_to_hear_it_stops_no_other(ends: int, error: type[BaseException]) -> None:
    server, gone = Server(0), threading.Event()
    reports = Reports(server, Outage(lambda _: None), gone)  # type: ignore[arg-type]
    heard: list[str] = []

    def end(id: str) -> None:
        heard.append(id)
        raise error("no")

    ids = [f"r{number}" for number in range(ends)]
    for id in ids:
        reports.put(Item(attempt(id), lambda *_, id=id: end(id), Verdict(None, "1")))
    reports.start()
    wait_until(lambda: heard == ids)
    reports.put(Item(attempt("last"), lambda *_: heard.append("last"), Verdict(None, "1")))
    wait_until(lambda: heard == [*ids, "last"])
    reports.close()
    assert server.told == [f"end {id}" for id in [*ids, "last"]]
