"""A small soak: dispatchers, executors and users at once for an hour of played minutes, with faults all along."""

from __future__ import annotations

import contextlib
import random
import threading
from collections.abc import Callable

import psycopg
import pytest

from tests.faults.plant import GONE, SLOTS_A_TICK, Plant, dispatching, plant
from tests.support.database import Database

# What a fault or a rival may do to a statement; anything else is a finding.
EXPECTED = {"57P01", "57014", "40001", "55P03", None}

USERS = (
    "update lenses.workflow_schedules set is_active = false, paused_at = now() where id = %(id)s",
    "update lenses.workflow_schedules set is_active = true where id = %(id)s",
    "update lenses.workflow_schedules set description = 'edited' where id = %(id)s",
    "update lenses.workflow_schedules set jitter_ms = 100 where id = %(id)s",
    'update lenses.workflow_schedules set queue_policy = \'{"mode":"serial"}\' where id = %(id)s',
    "delete from lenses.workflow_schedules where id = %(id)s",
    "insert into lenses.workflow_schedules (workflow_id, cron_expr, start_at) "
    "select workflow_id, '* * * * *', start_at from lenses.workflow_schedules where id = %(id)s",
    "update lenses.workflows set status = 'paused' where id = (select workflow_id "
    "from lenses.workflow_schedules where id = %(id)s)",
    "update lenses.workflows set status = 'active' where status = 'paused'",
)


def user(conn: Database) -> None:
    schedule = conn.value("select id from lenses.workflow_schedules order by random() limit 1")
    conn.execute(random.choice(USERS), {"id": schedule})


def executor(conn: Database) -> None:
    for run in conn.rows("select id from lenses.fn_claim_workflow_runs('soak', 20)"):
        end = random.choice(
            (
                "select lenses.fn_complete_workflow_run(%s, 'soak', '{}')",
                "select lenses.fn_fail_workflow_run(%s, 'soak', 'provider_error', 'no')",
                "select lenses.fn_cancel_workflow_run(%s)",
            )
        )
        conn.execute(end, [run.id])


def decider(conn: Database) -> None:
    """Leases and approvals run out, history is asked for."""
    conn.execute("select lenses.fn_reap_workflow_runs()")
    conn.execute("select count(*) from lenses.schedule_slots")


def killer(conn: Database) -> None:
    conn.execute(
        "select pg_terminate_backend(pid) from pg_stat_activity "
        "where backend_type = 'client backend' and pid <> pg_backend_pid() order by random() limit 1"
    )
    threading.Event().wait(0.3)


def soak(place: Plant, minutes: int) -> None:
    over = threading.Event()
    found: list[str] = []
    minute = 0

    def keep(work: Callable[[Database], None]) -> None:
        while not over.is_set():
            try:
                with place.connect() as conn:
                    while not over.is_set():
                        work(conn)
            except psycopg.Error as error:
                if error.sqlstate not in EXPECTED and not isinstance(error, GONE):
                    found.append(f"{work.__name__} {error.sqlstate}: {error}")

    jobs = [user, user, executor, executor, decider, killer]
    threads = [threading.Thread(target=keep, args=[job], daemon=True) for job in jobs]
    for thread in threads:
        thread.start()
    with dispatching(place, lambda: minute, 4) as errors:
        for each in range(minutes):
            minute = each
            with contextlib.suppress(*GONE):
                place.drain(minute)
    over.set()
    for thread in threads:
        thread.join(60)
    # What an edit sent back to its first minute has a slot a minute, and a tick takes so many.
    for _ in range(0, minutes, SLOTS_A_TICK):
        place.drain(minute)
    assert found == []
    assert errors == []
    # An edit looks for the next slot after the server's clock, which is behind the played one.
    assert [v for v in place.violations() if v.invariant != "slot_behind_watermark"] == []
    with place.connect() as conn:
        assert conn.value("select count(*) from lenses.workflow_runs") > minutes * place.count / 20
        assert (
            conn.value("select count(*) from lenses.workflow_schedules where failure_count > 0")
            == 0
        )
        late = (
            "select count(*) from lenses.workflow_schedules as s join lenses.workflows as w "
            "on w.id = s.workflow_id where s.is_active and s.next_run_at < %s"
        )
        # A serial schedule whose run is in flight skips; none is left behind.
        assert conn.value(late, [place.at(minute)]) == 0


def test_a_short_soak() -> None:
    with plant() as place:
        place.fill(200)
        soak(place, 10)


@pytest.mark.slow
def test_a_soak_of_two_hours() -> None:
    with plant({"shared_buffers": "512MB"}) as place:
        place.fill(1_000, approval="false")
        soak(place, 120)
