"""docker/monitoring/dashboard.png: the dashboard's panels over an hour that is played in a minute.

Grafana's own look differs; places, titles, units, thresholds and queries are dashboard.json's, and
the figures a real Prometheus's. python -m tests.support.dashboard [FILE].
"""

from __future__ import annotations

import re
import sys
import tempfile
import time
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter, Formatter, PercentFormatter, ScalarFormatter

from tests.bench.load import bench
from tests.support.database import Database, wait_until
from tests.support.monitoring import FOLDER, PANELS, Ask, filled, has_data, play_an_hour, prometheus
from tests.support.processes import running
from tests.support.run_scenario import RunScenario

FILE = FOLDER / "dashboard.png"
MINUTE = timedelta(minutes=1)
COLUMNS = 24  # of Grafana's grid
COLUMN, ROW = 0.52, 0.32  # inches
LEFT, TITLE, LEGEND = 1.4, 1.0, 2.6  # room for labels, in the grid's units
INTERVAL = "10s"  # of rates
COLOURS = {"green": "#3a8f3a", "red": "#c4162a"}
FORMATS: Mapping[str, Formatter] = {
    "s": EngFormatter("s", places=None),
    "bytes": EngFormatter("B"),
    "percentunit": PercentFormatter(1, decimals=3),
    "short": ScalarFormatter(useOffset=False),
}


def play(db: Database) -> None:
    """Sixty minutes, one a second: a minute's ticks, and an executor that falls behind and fails at times."""
    play_an_hour(db)
    scenario = RunScenario(db)
    start = datetime.now(UTC).replace(second=0, microsecond=0) - timedelta(hours=1)
    for cron in ("* * * * *", "*/2 * * * *", "*/5 * * * *", "*/10 * * * *"):
        scenario.make_schedule(cron, next_run_at=start)
    scenario.make_schedule(
        "*/4 * * * *", next_run_at=start, pre_dispatch_condition={"/x": {"eq": 1}}
    )
    begin = time.monotonic()
    for minute in range(61):
        time.sleep(max(0.0, begin + minute - time.monotonic()))
        scenario.tick(start + minute * MINUTE)
        for number, run in enumerate(scenario.claimed(limit=1 if 20 <= minute < 35 else 4)):
            if minute % 15 == 5 and number == 0:
                scenario.fail(run)
            else:
                scenario.complete(run)


def drawn_stat(axes: Axes, panel: Any, ask: Ask) -> None:
    """The newest value, in its threshold's colour."""
    (target,) = panel["targets"]
    (sample,) = ask("query", query=filled(target["expr"], INTERVAL))["result"]
    value = float(sample["value"][1])
    defaults = panel["fieldConfig"]["defaults"]
    steps = defaults["thresholds"]["steps"]
    colour = [step["color"] for step in steps if step["value"] is None or value >= step["value"]][
        -1
    ]
    unit = " s" if defaults["unit"] == "s" else ""
    axes.text(
        0.5,
        0.45,
        f"{value:.4g}{unit}",
        fontsize=22,
        color=COLOURS[colour],
        ha="center",
        va="center",
    )
    axes.set_xticks([])
    axes.set_yticks([])


def named(template: str, labels: Mapping[str, str]) -> str:
    """A series' name in the legend."""
    return re.sub(r"{{(\w+)}}", lambda found: labels.get(found[1], ""), template)


def drawn_series(axes: Axes, panel: Any, ask: Ask, begin: float, end: float) -> None:
    """Every series of its queries against the seconds since the begin."""
    for target in panel["targets"]:
        answer = ask(
            "query_range",
            query=filled(target["expr"], INTERVAL),
            start=str(begin),
            end=str(end),
            step="1",
        )
        for series in answer["result"]:
            name = named(target["legendFormat"], series["metric"])
            axes.plot(
                [float(at) - begin for at, _ in series["values"]],
                [float(value) for _, value in series["values"]],
                label=name,
                linewidth=1.2,
            )
    defaults = panel["fieldConfig"]["defaults"]
    axes.yaxis.set_major_formatter(FORMATS[defaults["unit"]])
    axes.set_ylim(bottom=defaults["min"])
    axes.set_xlim(0, end - begin)
    axes.grid(alpha=0.25)
    axes.legend(loc="upper left", bbox_to_anchor=(-0.04, -0.12), ncols=3, frameon=False)


def draw(ask: Ask, begin: float, end: float, path: Path) -> None:
    """All panels, each in its place."""
    mpl.rcParams.update({"font.size": 7, "axes.titlesize": 9, "legend.fontsize": 6})
    rows = max(p["gridPos"]["y"] + p["gridPos"]["h"] for p in PANELS)
    figure = Figure(figsize=(COLUMNS * COLUMN, rows * ROW))
    for panel in PANELS:
        x, y, w, h = (panel["gridPos"][key] for key in "xywh")
        below = LEGEND if panel["type"] == "timeseries" else 0.6
        axes = figure.add_axes(
            (
                (x + LEFT) / COLUMNS,
                1 - (y + h - below) / rows,
                (w - LEFT - 0.5) / COLUMNS,
                (h - below - TITLE) / rows,
            )
        )
        axes.set_title(panel["title"], loc="left")
        if panel["type"] == "stat":
            drawn_stat(axes, panel, ask)
        else:
            drawn_series(axes, panel, ask, begin, end)
    figure.savefig(path, dpi=100)


def main() -> None:
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else FILE
    with (
        bench() as server,
        server.database("dashboard") as db,
        tempfile.TemporaryDirectory() as folder,
        running(db.dsn, "metrics", "--listen", "127.0.0.1:0") as figures,
    ):
        figures.says("listening on http://")
        address = figures.output.split("listening on http://")[1].split("/")[0]
        with prometheus(address, Path(folder), instance="app") as ask:
            wait_until(lambda: has_data(ask, "dispatch_ticks"))
            begin = time.time()
            play(db)
            draw(ask, begin, time.time(), path)


if __name__ == "__main__":
    main()
