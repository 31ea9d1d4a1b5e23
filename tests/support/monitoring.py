"""docker/monitoring at work: a real Prometheus that scrapes `lf-sql metrics`, and an hour to look at."""

from __future__ import annotations

import json
import math
import socket
import subprocess
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import yaml
from psycopg.types.json import Jsonb

from tests.support.database import Database, as_user, wait_until
from tests.support.pages import ROOT
from tests.support.run_scenario import RunScenario

FOLDER = ROOT / "docker/monitoring"
DASHBOARD = json.loads((FOLDER / "dashboard.json").read_text(encoding="utf-8"))
PANELS = DASHBOARD["panels"]


def filled(expression: str, interval: str = "1m") -> str:
    """A query of the dashboard as Grafana sends it, for all databases, rates over `interval`."""
    return expression.replace("$instance", ".*").replace("$__rate_interval", interval)


def play_an_hour(db: Database) -> None:
    """The last hour: runs that are over, fail and wait, skips, a schedule that fails, a delivery."""
    with as_user(db, None, "service_role") as conn:
        conn.execute(
            "select lenses.fn_set_delivery(%s)", [Jsonb({"name": "watch", "sends": ["run.failed"]})]
        )
    scenario = RunScenario(db)
    now = datetime.now(UTC).replace(second=0, microsecond=0)
    start = now - timedelta(hours=1, minutes=now.minute % 5)
    first = {"next_run_at": start}
    scenario.make_schedule(**first)
    scenario.make_schedule(pre_dispatch_condition={"/x": {"eq": 1}}, **first)
    scenario.make_schedule(approval_policy={"requiresApproval": True}, **first)
    scenario.play(start, start + timedelta(hours=1), timedelta(minutes=5))
    done, failed = scenario.claimed(limit=2)
    scenario.complete(done)
    db.execute(
        "select lenses.fn_fail_workflow_run(%s, 'w', 'provider_error', 'no', p_final => true)",
        [failed],
    )


Ask = Callable[..., Any]


@contextmanager
def prometheus(figures: str, folder: Path, instance: str | None = None) -> Iterator[Ask]:
    """A real one with our configuration, but a scrape each second; `ask("query", query=...)`.

    `figures`: host:port of `lf-sql metrics --listen`; `instance`: its label, where not that.
    """
    config = yaml.safe_load((FOLDER / "prometheus.yaml").read_text(encoding="utf-8"))
    config["rule_files"] = [str(FOLDER / name) for name in config["rule_files"]]
    config["global"] = {"evaluation_interval": "1s"}
    (job,) = config["scrape_configs"]
    job |= {"scrape_interval": "1s", "scrape_timeout": "1s"}
    job["static_configs"] = [{"targets": [figures], "labels": {"instance": instance or figures}}]
    (folder / "prometheus.yaml").write_text(yaml.safe_dump(config))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"

    def ask(what: str, **arguments: str) -> Any:
        url = f"http://{address}/api/v1/{what}?{urllib.parse.urlencode(arguments)}"
        with urllib.request.urlopen(url, timeout=60) as answer:
            return json.load(answer)["data"]

    log = folder / "log"
    with log.open("w") as out:
        process = subprocess.Popen(
            [
                *("prometheus", f"--config.file={folder}/prometheus.yaml"),
                *(f"--storage.tsdb.path={folder}/data", f"--web.listen-address={address}"),
            ],
            stdout=out,
            stderr=out,
        )
    try:
        wait_until(
            lambda: "ready to receive web requests" in log.read_text() or process.poll() is not None
        )
        assert process.poll() is None, log.read_text()
        yield ask
    finally:
        process.terminate()
        process.wait(120)


def has_data(ask: Ask, query: str) -> bool:
    """At least one sample that is a number."""
    values = [float(s["value"][1]) for s in ask("query", query=query)["result"]]
    return any(not math.isnan(value) for value in values)
