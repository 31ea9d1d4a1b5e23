"""lf-sql metrics: figures for Prometheus."""

from __future__ import annotations

import contextlib
import signal

import click

from lf_sql import db, metrics, metrics_server
from lf_sql.cli.context import emit, note, options
from lf_sql.cli.session import installed
from lf_sql.stopping import stop_on


@click.command(
    epilog="\b\nExamples:\n  lf-sql metrics > /var/lib/node_exporter/lf_sql.prom\n"
    "  lf-sql metrics --listen 127.0.0.1:9187"
)
@click.option("--listen", metavar="HOST:PORT", help="Serve the figures over HTTP until stopped.")
def command(listen: str | None) -> None:
    """Print all figures as Prometheus text, or serve them at /metrics."""
    if listen is None:
        with installed() as conn:
            if options().as_json:
                rows = conn.execute("select * from lenses.fn_metrics()").fetchall()
            else:
                text = metrics.text(conn)
        if options().as_json:
            emit(rows)
        else:
            click.echo(text, nl=False)
        return
    host, _, port = listen.rpartition(":")
    if not host or not port.isascii() or not port.isdigit() or int(port) > 65535:
        raise click.UsageError(f"--listen wants HOST:PORT, not {listen!r}")
    host = host.strip("[]")
    with installed():
        metrics.client()
    dsn = options().dsn
    # An event, not an exception: an exception raised in a finalizer is lost.
    stop = stop_on(signal.SIGTERM)
    with contextlib.suppress(KeyboardInterrupt):
        metrics_server.serve(
            host,
            int(port),
            lambda: db.connect(dsn, application_name="lf-sql metrics"),
            lambda found: note(f"listening on http://{host}:{found}/metrics"),
            stop,
            note,
        )
    note("stopped")
