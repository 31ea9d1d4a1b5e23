"""lf-sql metrics: figures for Prometheus."""

from __future__ import annotations

import click

from lf_sql import db, metrics, metrics_server
from lf_sql.cli.context import emit, note, options
from lf_sql.cli.params import LISTEN
from lf_sql.cli.session import installed


@click.command(
    epilog="\b\nExamples:\n  lf-sql metrics > /var/lib/node_exporter/lf_sql.prom\n"
    "  lf-sql metrics --listen 127.0.0.1:9187"
)
@LISTEN
def command(listen: tuple[str, int] | None) -> None:
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
    with installed():
        metrics.client()
    dsn = options().dsn
    metrics_server.serve_until_stopped(
        listen, lambda: db.connect(dsn, application_name="lf-sql metrics"), metrics.text, note
    )
