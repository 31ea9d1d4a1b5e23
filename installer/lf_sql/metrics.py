"""Prometheus text from lenses.fn_metrics, written by prometheus_client."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
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
    return text_of(samples(conn))


def samples(conn: Connection) -> list[dict[str, Any]]:
    """Rows of lenses.fn_metrics: name, kind, help, labels, value."""
    return conn.execute("select * from lenses.fn_metrics()").fetchall()


def text_of(rows: Sequence[Mapping[str, Any]]) -> str:
    """The same of samples that are at hand."""
    prometheus = client()

    class Figures:
        def collect(self) -> Iterator[Metric]:
            yield from families(rows)

    registry = prometheus.CollectorRegistry(auto_describe=False)
    registry.register(Figures())
    return _HEAD.sub(r"\1 ", prometheus.generate_latest(registry).decode())


def families(rows: Sequence[Mapping[str, Any]]) -> Iterator[Metric]:
    """Rows of one name are one family; its samples carry its own name, without a suffix."""
    from prometheus_client.metrics_core import Metric

    found: dict[str, Metric] = {}
    for row in rows:
        name, labels = row["name"], row["labels"]
        family = found.setdefault(name, Metric(name, row["help"], row["kind"]))
        others = {key: text for key, text in labels.items() if key not in ("le", "sum")}
        if row["kind"] != "histogram":
            family.add_sample(name, labels, row["value"])
        elif "sum" in labels:
            family.add_sample(f"{name}_sum", others, row["value"])
        else:
            bucket = {**others, "le": str(labels["le"])}
            family.add_sample(f"{name}_bucket", bucket, row["value"])
            if labels["le"] == "+Inf":
                family.add_sample(f"{name}_count", others, row["value"])
    yield from found.values()
