"""What pg_net's worker does with its queue, and everything that can go wrong with it, on demand."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from psycopg.types.json import Jsonb

from tests.support.database import Database

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"


@dataclass(frozen=True)
class Request:
    id: int
    url: str
    headers: dict[str, str]
    body: bytes
    timeout: int

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass(frozen=True)
class Answer:
    """`status` None: there is none, and `error` says why."""

    status: int | None = 200
    content: str | None = "{}"
    headers: dict[str, str] = field(default_factory=dict)
    error: str | None = None
    is_timeout: bool = False


TIMEOUT = Answer(None, None, error="Timeout of 500 ms reached. Total time: 500 ms", is_timeout=True)
REFUSED = Answer(None, None, error="Couldn't connect to server")
Endpoint = Callable[[Request], Answer]


def answering(status: int | None = 200, content: Any = None, **more: Any) -> Endpoint:
    text = content if isinstance(content, str) else json.dumps(content or {})
    return lambda _request: Answer(status, text, **more)


class Sender:
    """`received` is what the endpoints were asked, by whatever became of the answers."""

    def __init__(self, db: Database) -> None:
        self.db = db
        self.received: list[Request] = []

    def queue(self) -> list[Request]:
        rows = self.db.rows("select * from net.http_request_queue order by id")
        return [
            Request(r.id, r.url, r.headers, bytes(r.body), r.timeout_milliseconds) for r in rows
        ]

    def send(self, endpoint: Endpoint | None = None, *, is_recorded: bool = True) -> list[Request]:
        """A batch, in one transaction as there; not recorded: the worker was killed meanwhile."""
        endpoint = endpoint or answering()
        with self.db.transaction():
            batch = self.queue()
            self.db.execute("delete from net.http_request_queue")
            for request in batch:
                self.received.append(request)
                if is_recorded:
                    self.record(request.id, endpoint(request))
        return batch

    def record(self, number: int, answer: Answer, age: str = "0") -> None:
        self.db.execute(
            "insert into net._http_response (id, status_code, headers, content, timed_out, "
            "error_msg, created) values (%s, %s, %s, %s, %s, %s, now() - %s::interval)",
            [number, answer.status, Jsonb(answer.headers), answer.content, answer.is_timeout,
             answer.error, age],
        )  # fmt: skip

    def crash(self) -> None:
        """Crash recovery empties what is unlogged, ours too, and numbers begin anew."""
        self.db.execute(
            "truncate net.http_request_queue, net._http_response, lenses.delivery_requests"
        )
        self.number(1)

    def number(self, next_one: int) -> None:
        """The next request gets this number."""
        self.db.execute("select setval('net.http_request_queue_id_seq', %s, false)", [next_one])
