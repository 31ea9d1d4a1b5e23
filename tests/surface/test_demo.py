"""The demonstration, as a stranger runs it: it ends by itself, and leaves nothing running."""

from __future__ import annotations

import http.client
import re
import signal
import subprocess
import sys
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
import pytest

from lf_sql.demo.plans import OUTAGE, day_before, next_turn, ticks
from tests.support.cli import environment, process, start
from tests.support.database import wait_until

STORY = (
    r"orders +\d+ +run, completed",
    r"orders +2 +skipped: missed +14:10 +14:20",
    r"brief +1 +skipped: calendar",
    r"invoices +1 +run, pending approval",
    r"orders +3 slots of the outage: 1 run, for 14:30 \(onMissed: run_once\)",
    r"probe +1 slot of the outage: no run \(onMissed: skip, the default\)",
    r"brief +the slot was skipped: calendar \(holidays names \w{3} \d{4}-\d\d-\d\d\)",
    r'ledger +attempt 1 failed: "the bank answered 503"\nledger +attempt 2 completed',
    r'invoices +1 run approved with the note "the sums are right", then completed',
    r"The next clock change: on \d+ \w+ \d{4} 02:30 (does not come|comes twice) in Berlin",
    r"heartbeat +\d\d:\d\d:00 UTC: a run, made by pg_cron after \d+ ms,\n +completed by the executor",
)


@pytest.mark.slow
@pytest.mark.pg_cron
def test_it_tells_its_story() -> None:
    run = process("demo")
    assert run.returncode == 0, run.stderr
    assert run.stderr == ""
    for said in STORY:
        assert re.search(said, run.stdout), run.stdout
    health = run.stdout.split("says it\n\n")[1].split("\n\n")[0]
    heads = re.findall(r"^(\S[\w ]*: [\w ]+?)(?:  |$)", health, re.M)
    assert heads[:5] == [
        "worker: ok", "pg_cron: registered", "last tick: ok", "backlog: ok", "stuck runs: none",
    ]  # fmt: skip
    assert {head.split(":")[0] for head in heads[5:]} <= {"approvals", "skips", "retention"}
    assert [line for line in run.stdout.splitlines() if len(line) > 80] == []
    assert run.stdout.endswith("\nThe server is stopped and gone.\n")


@pytest.mark.slow
def test_keep_stays_up_with_a_console_until_it_is_told() -> None:
    run = start("demo", "--keep")
    assert run.stdout is not None
    said = ""
    for line in run.stdout:
        said += line
        if line.startswith("http"):
            break
    dsn = re.findall(r"export LF_SQL_DSN='(.*)'", said)[0]
    link = urlsplit(said.splitlines()[-1])
    with psycopg.connect(dsn) as conn:
        assert conn.execute("select count(*) from lenses.workflow_schedules").fetchone() == (8,)
    asked = http.client.HTTPConnection(link.netloc)
    asked.request("GET", f"/?{link.query}")
    assert asked.getresponse().status == 303
    asked.close()
    run.send_signal(signal.SIGINT)
    run.communicate(timeout=120)
    assert run.returncode == 0
    assert not Path(re.findall(r"host=(\S+)", dsn)[0]).exists()
    with pytest.raises(psycopg.OperationalError):
        psycopg.connect(dsn)


def test_a_server_does_not_outlive_its_parent() -> None:
    """kill -9 of the process that started it: the server goes by itself."""
    code = (
        "from lf_sql.embedded import Server; import signal\n"
        "s = Server(); s.start(); print(s.dsn(), flush=True); signal.pause()"
    )
    run = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, env=environment()
    )
    assert run.stdout is not None
    dsn = run.stdout.readline().strip()
    psycopg.connect(dsn).close()
    run.kill()
    run.wait()

    def gone() -> bool:
        try:
            psycopg.connect(dsn).close()
        except psycopg.OperationalError:
            return True
        return False

    wait_until(gone, what="the server is gone")


def test_yesterday_is_played_until_now_but_for_the_outage() -> None:
    now = datetime(2026, 3, 1, 0, 7, tzinfo=UTC)
    start = day_before(now)
    assert start == datetime(2026, 2, 28, tzinfo=UTC)
    played = ticks(start, now)
    assert played[0] == start
    assert played[-1] == datetime(2026, 3, 1, tzinfo=UTC)
    left_out = [
        at for at in played if at.date() == start.date() and OUTAGE[0] <= at.time() < OUTAGE[1]
    ]
    assert left_out == []
    assert len(played) == 24 * 6 + 1 - 3
    tomorrow = ticks(start, now + timedelta(days=1))
    assert datetime(2026, 3, 1, 14, 10, tzinfo=UTC) in tomorrow


def test_the_next_turn_of_the_clocks() -> None:
    assert next_turn("Europe/Berlin", date(2026, 11, 28)) == (date(2027, 3, 28), True)
    assert next_turn("Europe/Berlin", date(2027, 3, 28)) == (date(2027, 10, 31), False)
