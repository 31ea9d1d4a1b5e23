"""A real HTTP server that answers in every way: what a path stands for, its own function says."""

from __future__ import annotations

import asyncio
import json
import threading
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

JSON = "content-type: application/json"


@dataclass
class Request:
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


def answer(status: str, body: bytes | str = b"", *headers: str) -> bytes:
    data = body.encode() if isinstance(body, str) else body
    lines = [f"HTTP/1.1 {status}", f"content-length: {len(data)}", *headers, "", ""]
    return "\r\n".join(lines).encode() + data


Behaviour = Callable[["Server", Request], Awaitable[bytes | None]]


@dataclass
class Server:
    """`behaviours` by path; one that gives None closes the connection without an answer."""

    behaviours: dict[str, Behaviour]
    got: list[tuple[str, Request]] = field(default_factory=list)
    open: Counter[str] = field(default_factory=Counter)  # requests without an answer, by path
    most: int = 0  # of one path at once

    def __enter__(self) -> Server:
        self._loop = asyncio.new_event_loop()
        started = threading.Event()

        async def main() -> None:
            self.gate = asyncio.Event()
            server = await asyncio.start_server(self._serve, "127.0.0.1", 0, backlog=512)
            self.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
            started.set()

        self._loop.create_task(main())
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        assert started.wait(120)
        return self

    def __exit__(self, *_: object) -> None:
        def end() -> None:
            for task in asyncio.all_tasks(self._loop):
                task.cancel()
            self._loop.call_soon(self._loop.stop)

        self._loop.call_soon_threadsafe(end)
        self._thread.join(10)

    def let_go(self) -> None:
        """What waits for the gate goes on."""
        self._loop.call_soon_threadsafe(self.gate.set)

    def requests(self, path: str) -> list[Request]:
        return [request for at, request in self.got if at == path]

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError, asyncio.IncompleteReadError):
            while head := await reader.readuntil(b"\r\n\r\n"):
                first, *lines = head.decode().strip().split("\r\n")
                headers = {k.lower(): v.strip() for k, _, v in (ln.partition(":") for ln in lines)}
                body = await reader.readexactly(int(headers["content-length"]))
                path = first.split()[1]
                request = Request(headers, body)
                self.got.append((path, request))
                self.open[path] += 1
                self.most = max(self.most, self.open[path])
                try:
                    data = await self.behaviours[path](self, request)
                finally:
                    self.open[path] -= 1
                if data is None:
                    break
                writer.write(data)
                await writer.drain()
        writer.close()
