"""The demonstration, as a stranger runs it: it ends by itself, and leaves nothing running."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from datetime import date
from pathlib import Path

import psycopg
import pytest

from lf_sql.demo import played_day
from tests.support.cli import environment, process, start
from tests.support.database import wait_until


def ours() -> set[str]:
    """Folders of embedded servers that are there now."""
    return {str(path) for path in Path("/tmp").glob("lf-*/data")}


@pytest.mark.slow
@pytest.mark.pg_cron
def test_it_fires_and_is_gone() -> None:
    before = ours()
    run = process("demo")
    assert run.returncode == 0, run.stderr
    assert "driver: pg_cron" in run.stdout
    assert re.search(r"health probe, every 15 minutes +96 +fired", run.stdout)
    assert re.search(r"market brief, not on holidays +1 +skipped +calendar", run.stdout)
    assert "cats, dogs, owls, cats" in run.stdout
    assert re.search(
        r"\d\d:\d\d:00 UTC: run [0-9a-f-]{36} is pending, dispatched by pg_cron", run.stdout
    )
    assert ours() <= before


@pytest.mark.slow
def test_keep_stays_up_until_it_is_told() -> None:
    run = start("demo", "--keep")
    assert run.stdout is not None
    dsn = ""
    for line in run.stdout:
        if found := re.search(r"export LF_SQL_DSN='(.*)'", line):
            dsn = found[1]
            break
    with psycopg.connect(dsn) as conn:
        assert conn.execute("select count(*) from lenses.workflow_schedules").fetchone() == (6,)
    run.send_signal(signal.SIGINT)
    run.wait(120)
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


def test_the_day_is_a_weekday_and_the_first_of_a_month() -> None:
    for today in (date(2026, 1, 1), date(2026, 11, 28), date(2027, 4, 30), date(2028, 2, 29)):
        day = played_day(today)
        assert day > today
        assert day.day == 1
        assert day.weekday() < 5
