"""lf-sql metrics: Prometheus text whose counters never go back."""

from __future__ import annotations

import socket
import urllib.error
import urllib.request
from collections.abc import Callable

import pytest
from prometheus_client.parser import text_string_to_metric_families

from lf_sql.errors import LfSqlError
from lf_sql.listening import listen
from tests.support.command import Command
from tests.support.database import Database, Tenant
from tests.support.processes import running
from tests.support.work import due_in, make_schedule, make_workflow, run_now, unguarded


def samples(text: str) -> dict[str, float]:
    """Name and labels of each sample, as Prometheus itself reads them."""
    found = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            labels = ",".join(f"{k}={v}" for k, v in sorted(sample.labels.items()))
            name = sample.name.removesuffix("_total")  # the parser's own addition
            found[f"{name}{{{labels}}}" if labels else name] = sample.value
    return found


def tick(db: Database) -> None:
    number = db.value("select lenses.fn_tick_begin('worker')")
    while db.value("select lenses.fn_tick_step(%s)", [number]):
        pass
    db.execute("select lenses.fn_tick_end(%s)", [number])


@pytest.fixture
def busy(db: Database, owner: Tenant) -> Database:
    """Two runs dispatched, one slot skipped by overlap, one by its condition, one failed."""
    workflow = make_workflow(db, owner)
    serial = make_schedule(db, workflow, queue_policy='{"mode": "serial"}')
    make = [
        make_schedule(db, workflow),
        make_schedule(db, workflow, pre_dispatch_condition='{"/x": {"eq": 1}}'),
        serial,
    ]
    for schedule in make:
        due_in(db, schedule, -1)
    tick(db)
    due_in(db, serial, 0)  # a second after the slot before: slots of one second are one
    tick(db)
    db.execute(
        "create function public.poison() returns trigger language plpgsql as "
        "$$ begin raise exception 'out of paper'; end $$;"
        "create trigger poison before insert on lenses.workflow_runs "
        "for each row execute function public.poison()"
    )
    due_in(db, make[0], 0)
    tick(db)
    return db


def test_figures(lf: Command, busy: Database) -> None:
    text = lf("metrics").out
    found = samples(text)
    assert "# TYPE runs_emitted counter" in text
    for line in ("runs_emitted 2.0", "runs_skipped_overlap 1.0", "runs_failed_launch 1.0"):
        assert line in text.splitlines()
    assert found["schedules_due"] == 0
    assert found["runs_skipped{reason=condition_failed}"] == 1
    assert found["runs_skipped{reason=overlap_in_flight}"] == 1
    assert found["runs_skipped{reason=calendar}"] == 0
    assert found["runs_in_flight{status=pending}"] == 2
    assert found["schedules{status=enabled}"] == 3
    assert found["dispatch_ticks"] == 3
    assert found["schedule_drift_seconds_count"] == 2
    assert found["schedule_drift_seconds_bucket{le=0.5}"] == 0
    assert found["schedule_drift_seconds_bucket{le=+Inf}"] == 2
    assert found["schedule_drift_seconds_sum"] >= 2
    assert found["last_tick_age_seconds"] < 3600
    assert found["dispatch_frozen"] == 0
    assert found["last_tick_seconds"] >= 0
    assert found["schedules_failing{cause=dispatch_failed}"] == 1
    assert found["schedules_failing{cause=validation_failed}"] == 0
    assert found["table_bytes{table=lenses.workflow_runs}"] > 0
    busy.execute("update lenses.workflow_schedules set is_active = false")
    assert samples(lf("metrics").out)["schedules_failing{cause=dispatch_failed}"] == 0


def test_what_is_due_and_what_waits(lf: Command, db: Database, owner: Tenant) -> None:
    due_in(db, make_schedule(db, make_workflow(db, owner)), -100)
    db.execute("select lenses.fn_freeze_dispatch('moving')")
    db.execute("select lenses.fn_worker_heartbeat('w', 'h', 1, true, '')")
    found = samples(lf("metrics").out)
    assert found["schedules_due"] == 1
    assert 99 < found["backlog_seconds"] < 3600
    assert found["dispatch_frozen"] == 1
    assert found["worker_heartbeat_age_seconds{leader=true,worker=w}"] < 3600


def test_an_error_whose_cause_is_gone_is_no_failure(
    lf: Command, db: Database, owner: Tenant
) -> None:
    schedule = make_schedule(db, make_workflow(db, owner))
    with unguarded(db, "lenses.workflow_schedules"):
        db.execute(
            "update lenses.workflow_schedules set last_dispatch_status = 'validation_failed', "
            "last_error_message = 'assignee_missing' where id = %s",
            [schedule],
        )
    assert samples(lf("metrics").out)["schedules_failing{cause=validation_failed}"] == 0


def test_runs_that_wait_and_runs_that_are_over(lf: Command, db: Database, owner: Tenant) -> None:
    workflow = make_workflow(db, owner)
    free = make_schedule(db, workflow)
    for end in (
        "lenses.fn_fail_workflow_run(%s, 'w', 'provider_error', 'no', p_final => true)",
        "lenses.fn_complete_workflow_run(%s, 'w', null)",
    ):
        run = run_now(db, owner, free)
        db.execute("select lenses.fn_claim_workflow_runs('w', 1, '5 minutes')")
        assert db.value(f"select {end}", [run])
    none = samples(lf("metrics").out)
    assert none["runs_last_hour{status=completed}"] == 1
    assert none["runs_last_hour{status=failed}"] == 1
    assert none["runs_last_hour{status=timed_out}"] == 0
    assert none["run_waiting_seconds{status=pending}"] == 0
    assert none["run_waiting_seconds{status=pending_approval}"] == 0
    run_now(db, owner, free)
    run_now(db, owner, make_schedule(db, workflow, approval_policy="{}"))
    with unguarded(db, "lenses.workflow_runs"):
        db.execute("update lenses.workflow_runs set created_at = now() - interval '2 hours'")
    found = samples(lf("metrics").out)
    assert found["run_waiting_seconds{status=pending}"] >= 7200
    assert found["run_waiting_seconds{status=pending_approval}"] >= 7200
    assert found["runs_last_hour{status=completed}"] == 0
    # Put off until later, it does not wait for an executor.
    db.execute(
        "update lenses.workflow_runs set available_at = now() + interval '1 hour' "
        "where status = 'pending'"
    )
    assert samples(lf("metrics").out)["run_waiting_seconds{status=pending}"] == 0


def test_history_that_is_not_purged(lf: Command, db: Database) -> None:
    insert = (
        "insert into lenses.dispatch_ticks (driver, started_at) values ('x', now() - %s::interval)"
    )
    kept = db.value("select ticks_retention from lenses.dispatch_settings")
    db.execute(insert, [f"{kept.days} days 23 hours"])  # the nightly purge is still to come
    assert samples(lf("metrics").out)["retention_overdue_seconds{history=ticks}"] == 0
    db.execute(insert, [f"{kept.days + 2} days"])
    found = samples(lf("metrics").out)
    assert found["retention_overdue_seconds{history=ticks}"] >= 2 * 86400
    assert found["retention_overdue_seconds{history=runs}"] == 0
    assert found["retention_overdue_seconds{history=logs}"] == 0


def test_quotas_by_the_tenant_nearest_to_them(
    lf: Command, db: Database, tenant: Callable[..., Tenant]
) -> None:
    empty = samples(lf("metrics").out)
    assert empty["quota_used_ratio{quota=max_schedules_per_lenser}"] == 0
    for schedules in (1, 3):
        workflow = make_workflow(db, tenant())
        for _ in range(schedules):
            make_schedule(db, workflow)
    db.execute(
        "select lenses.fn_set_dispatch_settings("
        """'{"max_schedules_per_lenser": 4, "max_pending_runs_per_lenser": 2}')"""
    )
    found = samples(lf("metrics").out)
    assert found["quota_used_ratio{quota=max_schedules_per_lenser}"] == 0.75
    assert found["quota_used_ratio{quota=max_pending_runs_per_lenser}"] == 0
    assert "quota_used_ratio{quota=max_gateway_crons_per_lenser}" not in found


def test_a_tenant_adds_no_series(lf: Command, db: Database, tenant: Callable[..., Tenant]) -> None:
    def series() -> set[str]:
        """What any tenant has but the status of his schedules."""
        return {name for name in samples(lf("metrics").out) if not name.startswith("schedules{")}

    before = series()
    for title in ("report", "another"):
        who = tenant(title)
        run_now(db, who, make_schedule(db, make_workflow(db, who, title), name=title))
    assert series() == before


def test_a_purge_of_ticks_takes_nothing_from_the_counters(lf: Command, busy: Database) -> None:
    lasting = ("runs_", "schedule_drift", "dispatch_ticks")

    def counters() -> dict[str, float]:
        found = samples(lf("metrics").out)
        return {name: value for name, value in found.items() if name.startswith(lasting)}

    before = counters()
    busy.execute("update lenses.dispatch_ticks set started_at = started_at - interval '30 days'")
    busy.execute("call lenses.sp_purge_history()")
    assert busy.value("select count(*) from lenses.dispatch_ticks") == 0
    assert counters() == before
    busy.execute("drop trigger poison on lenses.workflow_runs")
    due_in(busy, busy.value("select id from lenses.workflow_schedules limit 1"), -1)
    tick(busy)
    assert counters()["dispatch_ticks"] == before["dispatch_ticks"] + 1


def test_served_over_http(db: Database, tenant: Callable[..., Tenant]) -> None:
    with running(db.dsn, "metrics", "--listen", "127.0.0.1:0") as process:
        process.says("listening on http://127.0.0.1:")
        url = process.output.split("listening on ")[1].split()[0]
        with urllib.request.urlopen(url, timeout=120) as answer:
            assert answer.headers["Content-Type"].startswith("text/plain; version=0.0.4")
            assert "runs_emitted" in samples(answer.read().decode())
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(url.replace("/metrics", "/other"), timeout=120)
        assert refused.value.code == 404
        assert process.stop() == 0


def test_served_on_ipv6(db: Database, tenant: Callable[..., Tenant]) -> None:
    """Where the machine has none, that is one line."""
    why_not = None
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError as error:
        why_not = error.strerror
    with running(db.dsn, "metrics", "--listen", "[::1]:0") as process:
        if why_not is not None:
            assert process.ends() == 1
            assert f"cannot listen on [::1]:0: {why_not}" in process.output
            return
        process.says("listening on http://[::1]:")
        url = process.output.split("listening on ")[1].split()[0]
        with urllib.request.urlopen(url, timeout=120) as answer:
            assert "runs_emitted" in samples(answer.read().decode())
        assert process.stop() == 0


def test_an_address_where_nobody_can_listen(lf: Command) -> None:
    """One line and a way out; the console says the same."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        said = lf("metrics", "--listen", f"127.0.0.1:{port}", code=1).err
        assert said.splitlines() == [
            f"error: cannot listen on 127.0.0.1:{port}: Address already in use",
            "hint: choose another HOST:PORT; port 0 takes a free one",
        ]
        for host, reason in (("host.invalid", ""), ("a..b", "this is no name of a host")):
            said = lf("metrics", "--listen", f"{host}:{port}", code=1).err
            assert said.startswith(f"error: cannot listen on {host}:{port}: {reason}")
            assert len(said.splitlines()) == 2
            with pytest.raises(LfSqlError, match=f"cannot listen on {host}:{port}: {reason}"):
                listen(host, port, 1, "")


@pytest.mark.parametrize("where", ["9187", "here", "127.0.0.1:http", "127.0.0.1:99999"])
def test_an_address_that_is_none(lf: Command, where: str) -> None:
    assert "HOST:PORT" in lf("metrics", "--listen", where, code=2).err


def test_json(lf: Command) -> None:
    assert {"name", "kind", "help", "labels", "value"} == set(lf("metrics", "--json").json[0])
