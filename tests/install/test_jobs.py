"""The pg_cron job: exactly once, or exactly what is missing."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from lf_sql import bundle, embedded
from tests.support.cli import lf_sql, refused, succeeded
from tests.support.database import Database, connect
from tests.support.server import TestServer, build, preload

pytestmark = pytest.mark.pg_cron

TICK = next(job.command for job in bundle.load().jobs if job.name == "dispatch-scheduled-workflows")

CRON = {
    "shared_preload_libraries": "pg_cron",
    "cron.database_name": "lf",
    "cron.use_background_workers": "on",
}
REGISTERED = "pg_cron: dispatch-scheduled-workflows"
JOBS = (
    "select jobname, schedule, command, database, username, active from cron.job order by jobname"
)


@pytest.fixture(scope="module")
def cron_server() -> Iterator[TestServer]:
    assert preload("pg_cron"), "this build has no pg_cron"
    server = TestServer(CRON)
    with connect(server.dsn()) as admin:
        admin.execute("create database lf")
    yield server
    server.stop()


@pytest.fixture
def lf(cron_server: TestServer) -> Iterator[Database]:
    """The database in which pg_cron lives, emptied of everything (dropping it would end the launcher)."""
    dsn = cron_server.dsn("lf")
    with connect(dsn) as conn:
        yield conn
        conn.execute("drop extension if exists pg_cron cascade")
        if conn.value("select to_regnamespace('lf_sql')"):
            lf_sql("uninstall", "--yes", dsn=dsn)


def main_job(db: Database) -> list[tuple[object, ...]]:
    return [tuple(row) for row in db.rows(JOBS) if row.jobname == "dispatch-scheduled-workflows"]


GOOD = [
    (
        "dispatch-scheduled-workflows",
        "* * * * *",
        TICK,
        "lf",
        "postgres",
        True,
    )
]


def test_registered_exactly_once(lf: Database) -> None:
    assert REGISTERED in succeeded(lf_sql("install", dsn=lf.dsn))
    assert main_job(lf) == GOOD
    ids = lf.column("select jobid from cron.job order by 1")
    succeeded(lf_sql("install", dsn=lf.dsn))
    assert lf.column("select jobid from cron.job order by 1") == ids
    assert (
        lf.value(
            "select nspname from pg_extension e join pg_namespace n on n.oid = extnamespace where extname = 'pg_cron'"
        )
        == "pg_catalog"
    )


# what is done → what verify must name
DAMAGES = {
    "select cron.unschedule(jobid) from cron.job": "not registered",
    "update cron.job set schedule = '0 0 1 1 *'": "schedule is 0 0 1 1 *",
    "update cron.job set command = 'select 1'": "command is select 1",
    "update cron.job set active = false": "not active",
    "update cron.job set username = 'gone'": "its owner gone cannot run it: there is no such role",
    "update cron.job set database = 'gone'": "left over from database gone",
    "insert into cron.job (schedule, command, nodename, nodeport, database, username, jobname) "
    "select schedule, command, nodename, nodeport, database, 'sam', jobname from cron.job":
        "registered 2 times",
}  # fmt: skip


def test_what_is_off_is_seen_and_mended(lf: Database) -> None:
    succeeded(lf_sql("install", dsn=lf.dsn))
    for damage, named in DAMAGES.items():
        lf.execute(damage)
        run = lf_sql("verify", dsn=lf.dsn)
        assert (run.returncode, named in run.stdout) == (1, True), f"{damage}\n{run.stdout}"
        succeeded(lf_sql("install", dsn=lf.dsn))
        succeeded(lf_sql("verify", dsn=lf.dsn))
        assert main_job(lf) == GOOD, damage


def test_another_databases_job_of_the_same_name_stays(lf: Database) -> None:
    succeeded(lf_sql("install", dsn=lf.dsn))
    lf.execute(
        "insert into cron.job (schedule, command, nodename, nodeport, database, username, jobname) "
        "select schedule, command, nodename, nodeport, 'postgres', 'other', jobname from cron.job"
    )
    succeeded(lf_sql("install", dsn=lf.dsn))
    succeeded(lf_sql("verify", dsn=lf.dsn))
    others = "select count(*) from cron.job where database = 'postgres' and username = 'other'"
    assert lf.value(others) > 0
    succeeded(lf_sql("uninstall", "--yes", dsn=lf.dsn))
    assert lf.value(others) > 0  # and so the extension stays too
    assert main_job(lf)[0][3] == "postgres"


def test_uninstall_takes_the_job_and_the_extension_that_install_made(lf: Database) -> None:
    succeeded(lf_sql("install", dsn=lf.dsn))
    assert "job dispatch-scheduled-workflows" in succeeded(lf_sql("uninstall", "--yes", dsn=lf.dsn))
    assert lf.value("select count(*) from pg_extension where extname = 'pg_cron'") == 0
    lf.execute("create extension pg_cron")
    succeeded(lf_sql("install", dsn=lf.dsn))
    succeeded(lf_sql("uninstall", "--yes", dsn=lf.dsn))
    assert lf.value("select count(*) from cron.job") == 0


@pytest.fixture
def deploy(lf: Database) -> Iterator[str]:
    """A role that is no superuser and may not use pg_cron; the DSN as it."""
    lf.execute(
        "create role deploy login createrole; grant create on database lf to deploy;"
        "grant create on schema public to deploy with grant option"
    )
    yield f"{lf.dsn} user=deploy"
    lf.execute("drop owned by deploy cascade")
    for role in ("lf_sql_engine", "lf_sql_owner"):
        lf.execute(f"drop owned by {role} cascade") if lf.value(
            "select to_regrole(%s)", [role]
        ) else None
    lf.execute("drop role deploy")


def test_not_created_and_not_permitted(lf: Database, deploy: str) -> None:
    """Everything else installs; what is missing is said with the commands, and they mend it."""
    said = succeeded(lf_sql("install", dsn=deploy))
    assert "installed in" in said
    assert "the extension pg_cron is not created in this database" in said
    assert "grant usage on schema cron to deploy" in said
    assert "pg_cron" in succeeded(lf_sql("verify", dsn=deploy))
    lf.execute("create extension pg_cron")
    assert "role deploy may not use pg_cron" in succeeded(lf_sql("install", dsn=deploy))
    lf.execute("grant usage on schema cron to deploy")
    assert REGISTERED in succeeded(lf_sql("install", dsn=deploy))
    assert main_job(lf) == [(*GOOD[0][:4], "deploy", True)]
    succeeded(lf_sql("install", dsn=deploy))
    assert len(main_job(lf)) == 1
    succeeded(lf_sql("uninstall", "--yes", dsn=deploy))
    assert lf.value("select count(*) from cron.job") == 0


def test_in_another_database(db: Database) -> None:
    said = succeeded(lf_sql("install", dsn=db.dsn))
    assert f"pg_cron lives in database postgres, not in {db.dbname}" in said
    assert "cron.schedule_in_database" in said
    assert "lf-sql worker" in said


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({}, ["pg_cron is not preloaded", "shared_preload_libraries = 'pg_cron'"]),
        (
            {"cron.database_name": "postgres"},  # a placeholder, without the library
            ["pg_cron is not preloaded"],
        ),
        (
            {
                "shared_preload_libraries": "pg_cron",
                "cron.database_name": "postgres",
            },
            ["pg_cron connects to localhost by TCP", "cron.use_background_workers = on"],
        ),
    ],
    ids=["not preloaded", "only its setting", "cron.host would fail"],
)
def test_servers_that_cannot(settings: dict[str, str], words: list[str]) -> None:
    with embedded.Server(build(), settings) as server:  # reached by its socket alone
        said = succeeded(lf_sql("install", dsn=server.dsn()))
        for word in words:
            assert word in said
        assert "installed in" in said
        succeeded(lf_sql("verify", dsn=server.dsn()))


def test_status_tells(lf: Database) -> None:
    succeeded(lf_sql("install", dsn=lf.dsn))
    said = succeeded(lf_sql("status", dsn=lf.dsn))
    assert "dispatch-scheduled-workflows" in said
    lf.execute("select cron.unschedule(jobid) from cron.job")
    assert "not registered" in succeeded(lf_sql("status", dsn=lf.dsn))
    refused(lf_sql("status", dsn=lf.dsn.replace("dbname=lf", "dbname=postgres")), "not installed")


LANE_JOBS = (
    "select jobname, substring(command from 'call [^;]*') as command from cron.job "
    "where jobname like 'dispatch%' and active order by jobid"
)


def test_a_job_a_lane(lf: Database) -> None:
    succeeded(lf_sql("install", dsn=lf.dsn))
    assert "dispatch-scheduled-workflows-3 registered" not in succeeded(
        lf_sql("settings", "set", "batch_size", "500", dsn=lf.dsn)
    )
    set_to_3 = lf_sql("settings", "set", "dispatch_lanes", "3", dsn=lf.dsn)
    succeeded(set_to_3)
    assert "dispatch-scheduled-workflows-3" in set_to_3.stderr
    assert [tuple(row) for row in lf.rows(LANE_JOBS)] == [
        ("dispatch-scheduled-workflows", "call lenses.sp_dispatch_tick()"),
        ("dispatch-scheduled-workflows-2", "call lenses.sp_dispatch_tick(2)"),
        ("dispatch-scheduled-workflows-3", "call lenses.sp_dispatch_tick(3)"),
    ]
    assert "dispatch-scheduled-workflows-3" in succeeded(lf_sql("status", dsn=lf.dsn))
    succeeded(lf_sql("verify", dsn=lf.dsn))
    lf.execute("select lenses.fn_set_dispatch_settings('{\"dispatch_lanes\": 2}')")
    lf.execute("select cron.unschedule('dispatch-scheduled-workflows-2')")
    found = lf_sql("verify", dsn=lf.dsn)
    assert found.returncode == 1
    assert "dispatch-scheduled-workflows-2\tnot registered" in found.stdout
    assert "dispatch-scheduled-workflows-3\tleft over" in found.stdout
    succeeded(lf_sql("install", dsn=lf.dsn))
    assert [row.command for row in lf.rows(LANE_JOBS)] == [
        "call lenses.sp_dispatch_tick()",
        "call lenses.sp_dispatch_tick(2)",
    ]
    succeeded(lf_sql("verify", dsn=lf.dsn))
    gone = succeeded(lf_sql("uninstall", "--yes", dsn=lf.dsn))
    assert "job dispatch-scheduled-workflows-2" in gone
