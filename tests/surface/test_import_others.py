"""pg_cron, Kubernetes and pg_timetable: what is taken, as what, and what is refused, and why."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from lf_sql.imports import cron, kubernetes
from lf_sql.imports.found import Job, Left, Refused
from tests.support.command import Command
from tests.support.database import Database
from tests.surface.conftest import File

pytestmark = pytest.mark.usefixtures("owner")

PG_CRON = """
create schema cron;
create table cron.job (
  jobid bigint primary key, schedule text, command text, nodename text, nodeport int, database text,
  username text, active boolean, jobname text
);
insert into cron.job values
  (1, '0 3 * * *', 'vacuum analyze', '', 5432, 'app', 'postgres', true, 'nightly vacuum'),
  (2, '0 0 $ * *', 'select close_month()', '', 5432, 'app', 'postgres', true, null),
  (3, '30 seconds', 'select 1', '', 5432, 'app', 'postgres', true, 'quick'),
  (4, '*/5 * * * *', 'call refresh()', '', 5432, 'app', 'web', false, 'refresh'),
  (5, '@hourly', 'select 2', '', 5432, 'app', 'postgres', true, 'hourly'),
  (6, '@reboot', 'select 3', '', 5432, 'app', 'postgres', true, 'start'),
  (7, '* * * * *', 'call lenses.sp_dispatch_tick()', '', 5432, 'app', 'postgres', true, 'dispatch-scheduled-workflows'),
  (8, '0 9 * * mon-fri', E'select a,\n  b', '', 5432, 'app', 'postgres', true, 'lines')
"""


def schedules(text: str) -> dict[str, dict[str, Any]]:
    return {
        title: {**item["schedules"][title], "node": item["definition"]["nodes"][0]}
        for title, item in yaml.safe_load(text)["workflows"].items()
    }


def test_pg_cron(lf: Command, file: File, db: Database, empty_db: Database) -> None:
    empty_db.execute(PG_CRON)
    said = lf("import", "pg-cron", "--dsn", empty_db.dsn, code=1)
    found = schedules(said.out)
    assert {name: (item["cron"], item.get("enabled", True)) for name, item in found.items()} == {
        "nightly vacuum": ("0 3 * * *", True),
        "select close_month()": ("0 0 L * *", True),
        "refresh": ("*/5 * * * *", False),
        "hourly": ("0 * * * *", True),
        "lines": ("0 9 * * 1-5", True),
    }
    assert found["lines"]["node"] == {
        "id": "run", "action": "sql", "sql": "select a,\n  b", "database": "app",
    }  # fmt: skip
    assert said.err.count("refused: ") == 2
    assert "every 30 seconds" in said.err and 'near is cron: "* * * * *"' in said.err
    assert "left out: this is lf-sql's own" in said.out
    lf("apply", file(said.out))
    assert "nothing differs" in lf("apply", "a.yaml").err
    assert not db.value("select is_active from lenses.workflow_schedules where name = 'refresh'")


def test_without_pg_cron(lf: Command) -> None:
    assert "there is no pg_cron in this database" in lf("import", "pg-cron", code=1).err
    assert "there is no pg_timetable" in lf("import", "pg-timetable", code=1).err


def cron_job(schedule: str = "0 1 * * *", container: Any = None, **spec: Any) -> str:
    job = spec.pop("job", {})
    return yaml.safe_dump(
        {
            "apiVersion": "batch/v1", "kind": "CronJob", "metadata": {"name": "nightly", "namespace": "shop"},
            "status": {"lastScheduleTime": "2026-01-01T00:00:00Z"},
            "spec": {
                "schedule": schedule, **spec,
                "jobTemplate": {"spec": {**job, "template": {"spec": {"containers": [
                    container or {"name": "a", "image": "shop:1", "command": ["run", "a b"], "args": ["--x"]}]}}}},
            },
        }
    )  # fmt: skip


def only(text: str) -> Job | Left:
    (found,) = kubernetes.read(text, "file", "UTC")
    return found


def test_kubernetes_fields() -> None:
    job = only(
        cron_job(
            timeZone="Europe/Berlin",
            concurrencyPolicy="Forbid",
            startingDeadlineSeconds=60,
            suspend=True,
            job={"backoffLimit": 2, "activeDeadlineSeconds": 30},
        )
    )
    assert isinstance(job, Job) and job.title == "shop/nightly"
    assert job.schedule == {
        "cron": "0 1 * * *",
        "timezone": "Europe/Berlin",
        "queue": {"mode": "serial", "onOverlap": "skip", "onMissed": "skip"},
        "enabled": False,
        "retry": {"maxRetries": 2, "timeoutMs": 30000},
    }
    assert job.node == {"action": "shell", "command": "run 'a b' --x"}


@pytest.mark.parametrize(
    ("policy", "queue"),
    [
        ("Allow", {"mode": "parallel", "onMissed": "run_once"}),
        ("Forbid", {"mode": "serial", "onOverlap": "skip", "onMissed": "run_once"}),
        ("Replace", {"mode": "serial", "onOverlap": "replace", "onMissed": "run_once"}),
    ],
)
def test_kubernetes_overlap(policy: str, queue: dict[str, str]) -> None:
    job = only(cron_job(concurrencyPolicy=policy))
    assert isinstance(job, Job) and job.schedule["queue"] == queue


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        ("@daily", "0 0 * * *"),
        ("0 0 ? * ?", "0 0 * * *"),
        ("5/20 * * * *", "5-59/20 * * * *"),
        ("0 0 */2 * 1", "0 0 1-31/2 * 1"),  # either day field there: a star with a step is none
        ("0 0 */2 * *", "0 0 */2 * *"),
        ("0 0 1 * */3", "0 0 1 * 0-6/3"),
        ("0 0 * JAN SUN", "0 0 * 1 0"),
        ("@every 1h30m", "1h 30m"),
    ],
)
def test_kubernetes_expressions(theirs: str, ours: str) -> None:
    job = only(cron_job(theirs))
    assert isinstance(job, Job)
    assert job.schedule.get("cron", job.schedule.get("every")) == ours


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (cron_job("@every 1m"), 'five minutes at least; near it is cron: "* * * * *"'),
        (cron_job("0 0 * * 7"), "out of range (0-6)"),
        (cron_job("0 0 L * *"), 'itself does not read day of month "L"'),
        (cron_job(container={"image": "shop:1"}), "what it runs is in the image shop:1"),
        (cron_job(concurrencyPolicy="Maybe"), "concurrencyPolicy"),
        (cron_job("@every 99999h"), "an interval has ten years at most"),
    ],
)
def test_kubernetes_refused(text: str, reason: str) -> None:
    found = only(text)
    assert isinstance(found, Left) and reason in found.reason


def test_a_list_and_other_kinds(lf: Command, file: File) -> None:
    items = [yaml.safe_load(cron_job()), {"kind": "Service"}]
    text = yaml.safe_dump_all(
        [{"kind": "List", "items": items}, {"kind": "Deployment"}, yaml.safe_load(cron_job())]
    )
    said = lf("import", "kubernetes", file(text, "k.yaml"))
    assert list(schedules(said.out)) == ["shop/nightly", "shop/nightly (2)"]
    assert "lastScheduleTime" not in said.out
    lf("apply", file(said.out))
    assert "this is no YAML" in lf("import", "kubernetes", file("a: [", "k.yaml"), code=1).err


PG_TIMETABLE = """
create schema timetable;
create type timetable.command_kind as enum ('SQL', 'PROGRAM', 'BUILTIN');
create domain timetable.cron as text;
create table timetable.chain (
  chain_id bigint primary key, chain_name text, run_at timetable.cron, max_instances int, timeout int default 0,
  live boolean default true, self_destruct boolean default false, exclusive_execution boolean default false, client_name text
);
create table timetable.task (
  task_id bigint primary key, chain_id bigint, task_order float8, task_name text, kind timetable.command_kind default 'SQL',
  command text, run_as text, database_connection text, ignore_error boolean default false, autonomous boolean default false
);
create table timetable.parameter (task_id bigint, order_id int, value jsonb);
insert into timetable.chain (chain_id, chain_name, run_at, max_instances, timeout, live, self_destruct) values
  (1, 'one', '0 3 * * *', 1, 5000, true, false), (2, 'always', null, null, 0, false, false),
  (3, 'every', '@every 2 hours', 3, 0, true, false), (4, 'after', '@after 10 minutes', 1, 0, true, false),
  (5, 'start', '@reboot', 1, 0, true, false), (6, 'once', '0 0 * * *', 1, 0, true, true), (7, 'quick', '@every 10 seconds', 1, 0, true, false),
  (8, 'program', '0 0 1 * *', 1, 0, true, false), (9, 'builtin', '0 0 1 * *', 1, 0, true, false), (10, 'both', '0 0 13 * 5', 1, 0, true, false);
insert into timetable.task (task_id, chain_id, task_order, kind, command) values
  (1, 1, 1, 'SQL', 'select 1;'), (2, 1, 2, 'SQL', 'select 2'), (3, 2, 1, 'SQL', 'select 3'), (4, 3, 1, 'SQL', 'select 4'), (5, 4, 1, 'SQL', 'select 5'),
  (6, 5, 1, 'SQL', 'select 6'), (7, 6, 1, 'SQL', 'select 7'), (8, 7, 1, 'SQL', 'select 8'), (9, 8, 1, 'PROGRAM', 'ls'), (10, 9, 1, 'BUILTIN', 'Sleep'), (11, 10, 1, 'SQL', 'select 9');
insert into timetable.parameter values (9, 1, '["-l", "/a b"]');
"""


def test_pg_timetable(lf: Command, file: File, empty_db: Database) -> None:
    empty_db.execute(PG_TIMETABLE)
    said = lf("import", "pg-timetable", "--dsn", empty_db.dsn, code=1)
    found = schedules(said.out)
    assert {n: i.get("cron", i.get("every")) for n, i in found.items()} == {
        "one": "0 3 * * *", "always": "* * * * *", "every": "2h", "program": "0 0 1 * *",
    }  # fmt: skip
    assert found["one"]["node"]["sql"] == "select 1;\nselect 2"
    assert (
        found["one"]["queue"] == {"mode": "serial"} and found["one"]["retry"]["timeoutMs"] == 5000
    )
    assert found["every"]["queue"] == {"mode": "parallel", "maxConcurrency": 3}
    assert found["always"]["enabled"] is False
    assert found["program"]["node"]["command"] == "ls -l '/a b'"
    for name, reason in {
        "after": "starts 10m after its last run has ended", "start": "when the machine starts", "once": "deletes itself",
        "quick": "five minutes at least", "builtin": "Sleep is built into pg_timetable", "both": "wants both day fields to match",
    }.items():  # fmt: skip
        assert f"({name})" in said.err and reason in said.err
    lf("apply", file(said.out))


@pytest.mark.parametrize("text", ["* * * *", "* * * * * *", ""])
def test_a_wrong_number_of_fields(text: str) -> None:
    with pytest.raises(Refused, match="five fields, not"):
        cron.translated(text.split(), cron.KUBERNETES)


def test_a_crontab_is_no_kubernetes_manifest(lf: Command, file: File) -> None:
    said = lf("import", "kubernetes", file("0 9 * * * /bin/x\n", "crontab"), code=1).err
    assert "this is no Kubernetes manifest: it begins '0 9 * * * /bin/x'" in said
    assert "lf-sql import crontab" in said
    assert "0 imported" in lf("import", "kubernetes", file("items: []\n", "none.yaml")).err
