"""sql/README.md, "From pg_cron in ten minutes": its commands, in their order, around a played day."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.support.database import Database, Tenant, connect
from tests.support.pages import SQL, sections
from tests.support.state import State

pytestmark = pytest.mark.pg_cron

CHAPTER = sections(SQL)["From pg_cron in ten minutes"]
BLOCKS = [block.text for block in CHAPTER if block.language == "sh"]
IMPORT, APPLY, COMPARE, PAUSE, HAND_OVER, VERIFY = BLOCKS
JOBS = {"nightly": "30 2 * * *", "often": "*/10 * * * *"}
DAY = timedelta(days=1)
HOUR = timedelta(hours=1)


@pytest.fixture
def cron(state: State) -> Iterator[Database]:
    """pg_cron's own database, with two jobs of somebody's that write down that they ran."""
    with connect(state.server.dsn("postgres")) as conn:
        conn.execute("create extension pg_cron")
        for name, expression in JOBS.items():
            conn.execute("select cron.schedule(%s, %s, 'select 1')", [name, expression])
        yield conn
        conn.execute("drop extension pg_cron")


@pytest.fixture
def jobs_role(db: Database) -> Iterator[str]:
    db.execute("create role lf_test_jobs login")
    yield "lf_test_jobs"
    db.execute("drop role lf_test_jobs")


def test_its_commands_in_their_order(
    db: Database,
    cron: Database,
    jobs_role: str,
    state: State,
    tenant: Callable[..., Tenant],
    tmp_path: Path,
) -> None:
    tenant("owner")
    env = {
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "HOME": str(tmp_path),
        "LANG": "C.UTF-8",
        "LF_SQL_DSN": db.dsn,
        "CRON_DSN": cron.dsn,
        "JOBS_DSN": state.server.dsn("postgres", jobs_role),
    }

    def run(block: str) -> str:
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", block],
            env=env, cwd=tmp_path, capture_output=True, text=True, check=False,
            stdin=subprocess.DEVNULL,
        )  # fmt: skip
        assert done.returncode == 0, f"{block}\n{done.stdout}\n{done.stderr}"
        assert "Traceback" not in done.stderr
        return done.stdout

    def play(now: datetime, until: datetime) -> datetime:
        """Both drive: pg_cron what is active there, lf-sql its ticks."""
        while now < until:
            now += timedelta(minutes=10)
            for job in cron.rows("select jobid, jobname from cron.job where active"):
                if job.jobname == "often" or (now.hour, now.minute) == (2, 30):
                    cron.execute(
                        "insert into cron.job_run_details (jobid, runid, start_time) "
                        "values (%s, nextval('cron.runid_seq'), %s)",
                        [job.jobid, now + timedelta(seconds=1)],
                    )
            db.execute("select lenses.fn_dispatch_scheduled_workflows(%s)", [now])
        return now

    def completed() -> list[Any]:
        return db.column(
            "select s.name from lenses.workflow_runs as r "
            "join lenses.workflow_schedules as s on s.id = r.schedule_id "
            "where r.status = 'completed' order by r.scheduled_for"
        )

    assert "+ nightly" in run(IMPORT)
    run(APPLY)
    # the day played is past: a resume, which is of this moment, comes after it
    began = datetime.now(UTC).replace(minute=0, second=0, microsecond=0) - DAY - 2 * HOUR
    night = began.replace(hour=2, minute=30)
    first = {"nightly": night + (night < began) * DAY, "often": began + timedelta(minutes=10)}
    for name, slot in first.items():
        db.execute(
            "update lenses.workflow_schedules set created_at = %s, next_run_at = %s, due_at = %s "
            "where name = %s",
            [began, slot, slot, name],
        )
    now = play(began, began + DAY)
    assert run(COMPARE) == ""
    assert len((tmp_path / "lf-sql.txt").read_text().splitlines()) == 24 * 6 + 1
    cron.execute(
        "delete from cron.job_run_details where runid = (select max(runid) from cron.job_run_details)"
    )
    assert run(COMPARE).startswith("often|")

    run(PAUSE)
    waiting = "select count(*) from lenses.workflow_runs where status = 'pending'"
    assert db.value(waiting) == 0
    assert db.value("select bool_and(not is_active) from lenses.workflow_schedules")
    play(now, now + HOUR)
    assert db.value(waiting) == 0

    run(HAND_OVER)
    assert completed() == []
    slot = db.value("select next_run_at from lenses.workflow_schedules where name = 'nightly'")
    play(slot - HOUR, slot + DAY)
    run(HAND_OVER)
    ran = completed()
    assert ran and set(ran) == {"nightly"}
    assert run(VERIFY) == ""
    nightly = cron.value("select jobid from cron.job where jobname = 'nightly'")
    twice = db.value(
        "select max(scheduled_for) from lenses.workflow_runs where status = 'completed'"
    )
    cron.execute(
        "insert into cron.job_run_details (jobid, runid, start_time) "
        "values (%s, nextval('cron.runid_seq'), %s)",
        [nightly, twice],
    )
    assert run(VERIFY).startswith("nightly|")
