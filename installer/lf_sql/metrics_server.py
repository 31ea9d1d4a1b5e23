"""GET /metrics over HTTP, for clients that are not trusted: all that they can take is bounded."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, HTTPServer
from queue import Empty, Full, Queue
from socket import SHUT_RDWR, socket
from typing import Any

import psycopg

from lf_sql import metrics
from lf_sql.db import Connection, describe
from lf_sql.errors import LfSqlError
from lf_sql.listening import bracketed, listen
from lf_sql.stopping import stop_on

THREADS = 4
WAITING = 16  # connections accepted and not looked at yet; what comes beyond is closed
PATIENCE = 5.0  # seconds in all that a client has for its request, and as many for its answer
WAKE = 0.5  # seconds until the main thread looks for a signal
UNAVAILABLE = "the figures cannot be had now\n"


class Pool:
    """At most one database connection a thread, made when it is needed and kept while it works."""

    def __init__(
        self, connect: Callable[[], Connection], read: Callable[[Connection], str]
    ) -> None:
        self._connect = connect
        self._read = read
        self._here = threading.local()
        self._all: set[Connection] = set()
        self._lock = threading.Lock()

    def text(self) -> str:
        """The figures, by this thread's connection; it reconnects where the server has ended it."""
        kept: Connection | None = getattr(self._here, "conn", None)
        if kept is not None:
            try:
                return self._read(kept)
            except psycopg.Error:
                is_broken = kept.broken
                self._give_up(kept)
                if not is_broken:
                    raise
        conn = self._here.conn = self._connect()
        with self._lock:
            self._all.add(conn)
        try:
            conn.execute("set statement_timeout = '10s'")
            return self._read(conn)
        except psycopg.Error:
            self._give_up(conn)
            raise

    def close(self) -> None:
        """All of them."""
        for conn in list(self._all):
            self._close(conn)

    def _give_up(self, conn: Connection) -> None:
        self._here.conn = None
        self._close(conn)

    def _close(self, conn: Connection) -> None:
        with self._lock:
            self._all.discard(conn)
        conn.close()


def cut(client: socket) -> None:
    """End a client's reading and writing, under way or not; who serves it closes it."""
    with suppress(OSError):
        client.shutdown(SHUT_RDWR)


class Server(HTTPServer):
    """A few threads serve accepted connections; beyond WAITING a connection is closed."""

    def __init__(self, listener: socket, pool: Pool, say: Callable[[str], None]) -> None:
        super().__init__(listener.getsockname()[:2], Handler, bind_and_activate=False)
        self.socket.close()  # its own, of IPv4
        self.socket = listener
        self.pool = pool
        self.say = say
        self._accepted: Queue[tuple[socket, Any] | None] = Queue(WAITING)
        for number in range(THREADS):
            threading.Thread(target=self._serve, name=f"metrics-{number}", daemon=True).start()

    def process_request(self, request: Any, client_address: Any) -> None:
        try:
            self._accepted.put_nowait((request, client_address))
        except Full:
            self.shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that hung up, or was too slow, is not logged."""

    def server_close(self) -> None:
        super().server_close()
        while True:
            try:
                waiting = self._accepted.get_nowait()
            except Empty:
                break
            if waiting:
                self.shutdown_request(waiting[0])
        for _ in range(THREADS):
            self._accepted.put(None)
        self.pool.close()

    def _serve(self) -> None:
        while accepted := self._accepted.get():
            request, address = accepted
            try:
                self.finish_request(request, address)
            except Exception:
                self.handle_error(request, address)
            finally:
                self.shutdown_request(request)


class Handler(BaseHTTPRequestHandler):
    """One request a connection."""

    timeout = PATIENCE
    server: Server

    def setup(self) -> None:
        super().setup()
        self._wait()

    def handle(self) -> None:
        try:
            super().handle()
        finally:
            self._end.cancel()

    def _wait(self) -> None:
        """A timeout for each read would let a slow client hold the thread forever."""
        self._end = threading.Timer(PATIENCE, cut, [self.connection])
        self._end.daemon = True
        self._end.start()

    def do_GET(self) -> None:
        """The figures; what is wrong is said in the log alone."""
        if self.path.split("?")[0] not in ("/", "/metrics"):
            self._answer(404, "only /metrics is here\n")
            return
        self._end.cancel()  # the client waits for us now
        try:
            body = self.server.pool.text()
        except psycopg.Error as error:
            self._refuse(describe(error)[0])
        except LfSqlError as error:
            self._refuse(error.message)
        else:
            self._answer(200, body)

    def _refuse(self, why: str) -> None:
        self.server.say(f"no figures: {why}")
        self._answer(503, UNAVAILABLE)

    def _answer(self, code: int, body: str) -> None:
        data = body.encode()
        self._end.cancel()
        self._wait()
        self.send_response(code)
        self.send_header("Content-Type", metrics.CONTENT_TYPE)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: Any) -> None:
        """Scrapes are not logged."""

    def version_string(self) -> str:
        """What the Server header says: no versions of anything."""
        return "lf-sql"


def serve(
    address: tuple[str, int],
    connect: Callable[[], Connection],
    read: Callable[[Connection], str],
    say: Callable[[str], None],
    stop: threading.Event,
) -> None:
    """Answer GET /metrics (and /) with what `read` says, until `stop` is set."""
    host, port = address
    listener = listen(host, port, WAITING, "choose another HOST:PORT; port 0 takes a free one")
    with Server(listener, Pool(connect, read), say) as server:
        say(f"listening on http://{bracketed(host)}:{listener.getsockname()[1]}/metrics")
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            # A wait without end can sleep through a signal, whose handler runs in this thread.
            while not stop.wait(WAKE):
                pass
        finally:
            server.shutdown()


def serve_until_stopped(
    address: tuple[str, int],
    connect: Callable[[], Connection],
    read: Callable[[Connection], str],
    say: Callable[[str], None],
) -> None:
    """The same until SIGTERM or SIGINT."""
    # An event, not an exception: an exception raised in a finalizer is lost.
    stop = stop_on(signal.SIGTERM)
    with suppress(KeyboardInterrupt):
        serve(address, connect, read, say, stop)
    say("stopped")
