"""docker/ci/github-actions.yml: its steps, run as GitHub's shell runs them, against an empty database."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import yaml

from tests.support.database import Database

FILE = Path(__file__).parents[2] / "docker" / "ci" / "github-actions.yml"
SCHEDULES = """
project: shop
calendars:
  closing: {timezone: Europe/Berlin, dates: [2027-01-06]}
workflows:
  Invoices:
    definition: {nodes: [{id: send, action: mail}], edges: []}
    schedules:
      daily:
        cron: 0 9 * * *
        timezone: Europe/Berlin
        calendar: closing
      reminders:
        every: 6h
        window: {start: 2027-01-01T00:00Z}
"""


def steps(job: str) -> dict[str, str]:
    """Its commands by name; packages are the machine's own business."""
    found: list[dict[str, Any]] = yaml.safe_load(FILE.read_text())["jobs"][job]["steps"]
    commands = {
        step.get("name", step.get("run", "")): step["run"] for step in found if "run" in step
    }
    return {name: text for name, text in commands.items() if not name.startswith("pip install")}


def test_a_change_of_a_schedule_shows_in_review(empty_db: Database, tmp_path: Path) -> None:
    env = {
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "HOME": str(tmp_path),
        "LANG": "C.UTF-8",
        "LF_SQL_DSN": empty_db.dsn,
        **yaml.safe_load(FILE.read_text())["env"],
    }

    def run(text: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", text],
            env=env, cwd=tmp_path, capture_output=True, text=True, check=False,
            stdin=subprocess.DEVNULL,
        )  # fmt: skip

    review = steps("review")
    assert list(review) == ["Install", "Apply", "Lint", "Preview", "Compare with what is committed"]
    schedules, committed = tmp_path / "schedules.yaml", tmp_path / "preview.txt"
    schedules.write_text(SCHEDULES)
    for name in ("Install", "Apply", "Lint", "Preview"):
        done = run(review[name])
        assert done.returncode == 0, f"{name}: {done.stdout}\n{done.stderr}"
    (tmp_path / "preview.new").rename(committed)
    lines = committed.read_text().splitlines()
    assert "daily\tInvoices\tWed 2027-01-06\tskip\tcalendar\t09:00\tEurope/Berlin" in lines
    assert (
        "reminders\tInvoices\tFri 2027-01-01\tdispatch\tok\t00:00 06:00 12:00 18:00\tUTC" in lines
    )
    assert len(lines) == 1 + 2 * 31

    def reviewed(text: str) -> subprocess.CompletedProcess[str]:
        schedules.write_text(text)
        (deploy,) = steps("deploy").values()
        assert run(deploy).returncode == 0
        assert run(review["Preview"]).returncode == 0
        return run(review["Compare with what is committed"])

    assert reviewed(SCHEDULES).returncode == 0
    later = reviewed(SCHEDULES.replace("0 9 * * *", "30 9 * * 1-5"))
    assert later.returncode == 1
    assert "+daily\tInvoices\tMon 2027-01-04\tdispatch\tok\t09:30\tEurope/Berlin" in later.stdout
    assert "-daily\tInvoices\tSat 2027-01-02\tdispatch\tok\t09:00\tEurope/Berlin" in later.stdout
    assert "reminders" not in [line[1:10] for line in later.stdout.splitlines() if line[0] in "+-"]
