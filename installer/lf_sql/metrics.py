"""Prometheus text from lenses.fn_metrics, written by prometheus_client."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
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
