"""Every page, light and dark, wide and narrow: axe-core finds nothing, and all fits the window."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import ViewportSize

from tests.console.conftest import Console, Window

AXE = Path(".venv/node/node_modules/axe-core/axe.min.js")
WIDE: ViewportSize = {"width": 1440, "height": 900}
NARROW: ViewportSize = {"width": 390, "height": 844}


def pages(console: Console) -> Iterator[tuple[str, str]]:
    def schedule(name: str) -> str:
        query = "select id from lenses.workflow_schedules where name = %s"
        return f"/schedules/{console.db.value(query, [name])}"

    def run(status: str) -> str:
        query = "select id from lenses.workflow_runs where status = %s order by created_at limit 1"
        return f"/runs/{console.db.value(query, [status])}"

    calendar = console.db.value(
        "select id from lenses.schedule_calendars where name = 'company-days'"
    )
    gateway = console.db.value("select id from agents.gateways")
    probe = schedule("probe")
    yield from {
        "observe": "/",
        "runs": "/runs",
        "run-failed": run("failed"),
        "run-waits": run("pending_approval"),
        "approvals": "/approvals",
        "timeline": "/timeline",
        "timeline-hour": "/timeline?span=hour",
        "load": "/load",
        "calendars": "/calendars",
        "calendar": f"/calendars/{calendar}",
        "calendar-edit": f"/calendars/{calendar}/edit",
        "gateways": "/gateways",
        "gateway": f"/gateways/{gateway}",
        "health": "/health",
        "builder": "/builder",
        "builder-edit": schedule("only-if").replace("schedules", "builder"),
        "schedule": schedule("market-brief"),
        "schedule-paused": schedule("report-07"),
        "explain": f"{probe}/explain",
        "missing": "/nothing",
    }.items()


# Puts the widest day that there is in the place of each instant.
WIDEST = """() => {
  const widest = () => {
    for (const time of document.querySelectorAll('td time')) {
      if (!/^\\w{3} \\d+ \\w{3} \\d\\d:\\d\\d$/.test(time.textContent)) continue;
      let most = [0, ''];
      for (let day = 0; day < 365; day++) {
        const at = new Date(Date.UTC(2026, 0, 1 + day));
        time.textContent = at.toLocaleDateString('en-GB', {
          weekday: 'short', day: '2-digit', month: 'short', timeZone: 'UTC' }).replace(',', '') + ' 20:00';
        const width = time.getBoundingClientRect().width;
        if (width > most[0]) most = [width, time.textContent];
      }
      time.textContent = most[1];
    }
  };
"""
CUT = """[...document.querySelectorAll('td .pill, td time')].filter(part =>
 part.getBoundingClientRect().right > part.closest('td').getBoundingClientRect().right)
 .concat([...document.querySelectorAll('.panel select, .panel input, .panel button')]
 .filter(part => part.getBoundingClientRect().right >
 part.closest('.panel').getBoundingClientRect().right))
 .map(part => part.textContent || part.name)"""


@pytest.mark.parametrize(
    ("scheme", "size"),
    [
        ("light", WIDE),
        pytest.param("dark", NARROW, marks=pytest.mark.slow),
        pytest.param("dark", WIDE, marks=pytest.mark.slow),
        pytest.param("light", NARROW, marks=pytest.mark.slow),
    ],
    ids=["light", "dark-narrow", "dark", "narrow"],
)
def test_axe_finds_nothing_on_any_page(
    scene: tuple[Console, Window],
    pytestconfig: pytest.Config,
    scheme: Literal["light", "dark"],
    size: ViewportSize,
) -> None:
    console, window = scene
    page = window.page
    axe = (pytestconfig.rootpath / AXE).read_text()
    look = scheme if size == WIDE else f"{scheme}-narrow"
    page.set_viewport_size(size)
    page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
    found = []
    for name, path in pages(console):
        window.open(path)
        window.settle()
        page.evaluate(axe)
        answer = page.evaluate("axe.run({ resultTypes: ['violations'] })")
        found += [
            f"{name}: {each['id']}: {json.dumps(each['nodes'][0]['html'])} {each['nodes'][0]['any'][0]['message']}"
            for each in answer["violations"]
        ]
        if not page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"):
            found.append(f"{name}: wider than the window")
        cut = page.evaluate(WIDEST + "widest(); return " + CUT + "; }")
        found += [f"{name}: {text!r} is cut" for text in cut]
        window.shot(f"{name}-{look}")
    page.set_viewport_size(WIDE)
    page.emulate_media(color_scheme="light", reduced_motion="no-preference")
    troubles = [text for text in window.troubles if "404" not in text]
    window.troubles.clear()
    assert found == []
    assert troubles == []


@pytest.mark.parametrize("width", [860, 1000, 1100])
def test_the_head_of_the_page_fits(scene: tuple[Console, Window], width: int) -> None:
    page = scene[1].page
    page.set_viewport_size({"width": width, "height": 700})
    scene[1].open("/")
    box = page.get_by_role("link", name="New schedule").bounding_box()
    page.set_viewport_size(WIDE)
    assert box is not None
    assert box["x"] + box["width"] <= width


def test_many_schedules_fit_a_small_screen(scene: tuple[Console, Window]) -> None:
    window = scene[1]
    page = window.open("/")
    page.set_viewport_size(NARROW)
    rows = page.locator("table.observe tbody tr")
    assert rows.count() >= 28
    box = rows.nth(27).bounding_box()
    page.set_viewport_size(WIDE)
    assert box is not None
    assert box["y"] + box["height"] <= 4 * NARROW["height"]
