"""Between an executor and its server: swallows the answer to a statement that the server has carried out."""

from __future__ import annotations

import contextlib
import socket
import threading
from pathlib import Path

from psycopg.conninfo import conninfo_to_dict, make_conninfo


class Proxy:
    def __init__(self, dsn: str) -> None:
        given = conninfo_to_dict(dsn)
        self._address = str(Path(str(given["host"])) / f".s.PGSQL.{given['port']}")
        self._listener = socket.create_server(("127.0.0.1", 0))
        given |= {"host": "127.0.0.1", "port": self._listener.getsockname()[1]}
        self.dsn = make_conninfo("", **given, sslmode="disable", gssencmode="disable")
        self.swallowed = 0
        self._statement: bytes | None = None

    def __enter__(self) -> Proxy:
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._listener.close()

    def swallow(self, statement: str) -> None:
        """The next answer to one that has this in its text: `name(`, since each session's first
        statement asks whose the functions are, by name."""
        self._statement = statement.encode()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            server = socket.socket(socket.AF_UNIX)
            server.connect(self._address)
            condemned = threading.Event()
            for args in ((client, server, condemned, True), (server, client, condemned, False)):
                threading.Thread(target=self._carry, args=args, daemon=True).start()

    def _carry(
        self, source: socket.socket, target: socket.socket, condemned: threading.Event, asks: bool
    ) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                if asks and self._statement is not None and self._statement in data:
                    self._statement = None
                    condemned.set()
                if not asks and condemned.is_set():
                    self.swallowed += 1
                    break
                target.sendall(data)
        for end in (source, target):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
