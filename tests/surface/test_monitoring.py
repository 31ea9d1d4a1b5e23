"""docker/monitoring: alerts and dashboard ask for figures that there are, and Prometheus has them.

What needs Debian's prometheus is slow: make monitoring, make proof.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families

from tests.support.command import Command
from tests.support.database import Database, wait_until
from tests.support.monitoring import (
    DASHBOARD,
    FOLDER,
    PANELS,
    filled,
    has_data,
    play_an_hour,
    prometheus,
)
from tests.support.pages import DOCKER
from tests.support.processes import running

ALERTS = yaml.safe_load((FOLDER / "rules.yaml").read_text(encoding="utf-8"))["groups"][0]["rules"]

SELECTOR = re.compile(r"([a-z_]+)\{([^}]*)\}")
MATCHER = re.compile(r'(\w+)(=~|!~|!=|=)"([^"]*)"')
WORDS = {
    *("absent", "histogram_quantile", "increase", "rate", "sum"),
    *("by", "on", "or", "unless"),
    *("instance", "job", "le"),
}
QUERIES = {
    f"{panel['title']} {target['refId']}": filled(target["expr"])
    for panel in PANELS
    for target in panel["targets"]
}


def test_every_figure_and_label_is_one_that_metrics_prints(lf: Command, db: Database) -> None:
    play_an_hour(db)
    printed: dict[str, set[tuple[str, str]]] = {}
    for family in text_string_to_metric_families(lf("metrics").out):
        for sample in family.samples:
            name = sample.name.removesuffix("_total")  # the parser's own addition
            printed.setdefault(name, set()).update(sample.labels.items())
    for expression in [*(alert["expr"] for alert in ALERTS), *QUERIES.values()]:
        selectors = SELECTOR.findall(expression)
        assert selectors, expression
        # Without a selector nothing is a figure, so what is left is the language alone.
        assert set(re.findall(r"[a-z_]{2,}", SELECTOR.sub("", expression))) <= WORDS, expression
        for name, matchers in selectors:
            found = MATCHER.findall(matchers)
            assert ("job", "=", "lf-sql") in found, expression
            if name == "up":
                continue
            assert name in printed, expression
            for label, operator, value in found:
                if label not in ("job", "instance"):
                    assert operator in ("=", "!="), expression
                    assert (label, value) in printed[name], expression


def test_each_alert_says_what_to_do(lf: Command) -> None:
    for alert in ALERTS:
        assert re.fullmatch(r"\d+[mh]", alert["for"])
        assert alert["labels"] in ({"severity": "critical"}, {"severity": "warning"})
        assert set(alert["annotations"]) == {"summary", "description"}
        commands = re.findall(r"`lf-sql ((?:[a-z-]+ ?)+)", alert["annotations"]["description"])
        assert commands, alert["alert"]
        for command in commands:
            words = [word for word in command.split() if not word.startswith("--")]
            lf(*words, "--help")


def test_the_page_has_each_alert() -> None:
    text = DOCKER.read_text(encoding="utf-8")
    assert re.findall(r"^\| `(LfSql\w+)` \|", text, re.MULTILINE) == [a["alert"] for a in ALERTS]


def test_the_dashboard_is_of_nobodys_grafana() -> None:
    assert DASHBOARD["id"] is None
    assert [v["type"] for v in DASHBOARD["templating"]["list"]] == ["datasource", "query"]
    uids = {
        source["uid"]
        for panel in PANELS
        for source in [panel["datasource"], *(t["datasource"] for t in panel["targets"])]
    }
    assert uids == {"${datasource}"}
    titles = [panel["title"] for panel in PANELS]
    assert len(set(titles)) == len(titles)
    assert all(panel["description"] for panel in PANELS)


def promtool(*args: str) -> None:
    done = subprocess.run(["promtool", *args], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
def test_promtool_accepts_everything(tmp_path: Path) -> None:
    promtool("check", "config", str(FOLDER / "prometheus.yaml"))
    promtool("test", "rules", *map(str, FOLDER.glob("*_test.yaml")))
    records = [
        {"record": f"panel_{number}", "expr": query}
        for number, query in enumerate(QUERIES.values())
    ]
    queries = tmp_path / "queries.yaml"
    queries.write_text(yaml.safe_dump({"groups": [{"name": "dashboard", "rules": records}]}))
    promtool("check", "rules", str(queries))


def test_each_alert_fires_in_a_unit_test() -> None:
    units = yaml.safe_load((FOLDER / "rules_test.yaml").read_text(encoding="utf-8"))["tests"]
    fired = {
        alert
        for unit in units
        for case in unit["promql_expr_test"]
        for sample in case["exp_samples"]
        for alert in re.findall(r'alertname="(\w+)"', sample["labels"])
    }
    assert fired == {alert["alert"] for alert in ALERTS}


@pytest.mark.slow
def test_each_panel_has_data_of_a_played_hour(db: Database, tmp_path: Path) -> None:
    with running(db.dsn, "metrics", "--listen", "127.0.0.1:0") as figures:
        figures.says("listening on http://")
        address = figures.output.split("listening on http://")[1].split("/")[0]
        with prometheus(address, tmp_path) as ask:
            # Rates need figures from before and after.
            wait_until(lambda: has_data(ask, "dispatch_ticks"))
            play_an_hour(db)
            for panel, query in QUERIES.items():
                wait_until(lambda query=query: has_data(ask, query), what=f"{panel}: {query}")

            def rules() -> list[Any]:
                return ask("rules")["groups"][0]["rules"]

            wait_until(lambda: all(rule["health"] != "unknown" for rule in rules()))
            assert {rule["name"]: rule.get("lastError") for rule in rules()} == {
                alert["alert"]: None for alert in ALERTS
            }
            assert not has_data(ask, 'ALERTS{alertstate="firing"}')
