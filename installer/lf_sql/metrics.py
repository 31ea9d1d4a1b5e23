"""Prometheus text from lenses.fn_metrics, written by prometheus_client."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from lf_sql.db import Connection
from lf_sql.errors import LfSqlError

if TYPE_CHECKING:
    from prometheus_client.metrics_core import Metric

EXTRA = "pip install 'lf-sql[metrics]'"
CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_HEAD = re.compile(r"^(# (?:HELP|TYPE) \w+)_total ", re.MULTILINE)


def client() -> Any:
    """The package, which is an extra."""
    try:
        import prometheus_client
    except ImportError:
        raise LfSqlError("metrics need the extra package prometheus-client", EXTRA) from None
    return prometheus_client


def text(conn: Connection) -> str:
    """All samples as Prometheus reads them. Counters have the names that they are known by."""
    rows = conn.execute("select * from lenses.fn_metrics()").fetchall()
    prometheus = client()

    class Figures:
        def collect(self) -> Iterator[Metric]:
            yield from families(rows)

    registry = prometheus.CollectorRegistry(auto_describe=False)
    registry.register(Figures())
    return _HEAD.sub(r"\1 ", prometheus.generate_latest(registry).decode())


def families(rows: list[Mapping[str, Any]]) -> Iterator[Metric]:
    """Rows of one name are one family; its samples carry its own name, without a suffix."""
    from prometheus_client.metrics_core import Metric

    found: dict[str, Metric] = {}
    for row in rows:
        name, labels = row["name"], row["labels"]
        family = found.setdefault(name, Metric(name, row["help"], row["kind"]))
        if row["kind"] != "histogram":
            family.add_sample(name, labels, row["value"])
        elif "sum" in labels:
            family.add_sample(f"{name}_sum", {}, row["value"])
        else:
            family.add_sample(f"{name}_bucket", {"le": str(labels["le"])}, row["value"])
            if labels["le"] == "+Inf":
                family.add_sample(f"{name}_count", {}, row["value"])
    yield from found.values()


def serve(
    host: str,
    port: int,
    connect: Callable[[], Connection],
    ready: Callable[[int], None],
    stop: threading.Event,
) -> None:
    """Answer GET /metrics (and /) until `stop` is set; a fresh connection each time."""
    from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

    import psycopg

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.path.split("?")[0] not in ("/", "/metrics"):
                self._answer(404, "only /metrics is here\n")
                return
            try:
                with connect() as conn:
                    body = text(conn)
            except (psycopg.Error, LfSqlError) as error:
                self._answer(503, f"{error}\n")
            else:
                self._answer(200, body)

        def _answer(self, code: int, body: str) -> None:
            data = body.encode()
            self.send_response(code)
            self.send_header("Content-Type", CONTENT_TYPE)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: Any) -> None:
            """Scrapes are no news."""

    try:
        server = ThreadingHTTPServer((host, port), Handler)
    except OSError as error:
        raise LfSqlError(f"cannot listen on {host}:{port}: {error.strerror}") from None
    with server:
        ready(server.server_address[1])
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            stop.wait()
        finally:
            server.shutdown()
