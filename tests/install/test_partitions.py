"""Days of events and logs: upgraded into without a rewrite, dumped and restored, known from strangers' tables."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from lf_sql import apply, bundle, verify
from lf_sql import db as product_db
from tests.faults.plant import Plant
from tests.install.releases import RELEASES
from tests.install.test_restore import tool
from tests.support.cli import lf_sql, succeeded
from tests.support.database import Database, connect, make_tenant
from tests.support.server import TestServer
from tests.support.state import State

TABLES = ("lenses.workflow_run_events", "agents.agent_run_events", "agents.action_logs")
MAKE = "select lenses.fn_make_partitions(false)"
ROWS = """
select 'event', e.id, e.lenser_id, e.run_id::text, e.seq::text, e.event_type, e.payload, e.occurred_at
from lenses.workflow_run_events as e
union all
select 'agent', a.id, a.lenser_id, a.run_id::text, null, a.event_type, a.payload, a.occurred_at
from agents.agent_run_events as a
union all
select 'log', l.id, l.lenser_id, l.schedule_id::text, null, l.action_type, l.payload, l.occurred_at
from agents.action_logs as l
order by 1, 2
"""


def wrong(db: Database) -> list[str]:
    with product_db.connect(db.dsn) as conn:
        return [str(finding) for finding in verify.verify(conn, bundle.load()).findings]


def fill(db: Database) -> None:
    """A row of each table before, within and after the days that are made."""
    tenant = make_tenant(db).id
    assert db.value(MAKE)
    for table, columns, values in zip(
        TABLES,
        ("run_id, seq, event_type", "event_type", "action_type"),
        ("gen_random_uuid(), 1, 'note'", "'note'", "'note'"),
        strict=True,
    ):
        db.execute(
            f"insert into {table} (lenser_id, {columns}, occurred_at) "
            f"select %s, {values}, now() + make_interval(days => n) from generate_series(0, 4) as n",
            [tenant],
        )


@pytest.fixture
def filled(db: Database) -> Database:
    fill(db)
    return db


def days(db: Database) -> list[object]:
    return db.rows(
        "select parent::text as parent, part::text as part, from_at, until_at "
        "from lenses.fn_partitions() order by 1, 2"
    )


def test_days_come_and_go_unremarked(filled: Database) -> None:
    assert wrong(filled) == []
    assert "nothing to do" in succeeded(lf_sql("install", dsn=filled.dsn))
    filled.execute(f"drop table {filled.value('select part from lenses.fn_partitions() limit 1')}")
    assert wrong(filled) == []


@pytest.mark.parametrize(
    "harm",
    [
        "grant select on {part} to authenticated",
        "alter table {part} no force row level security",
        "alter table {part} disable row level security",
        "create policy planted on {part} to authenticated using (true)",
        "alter table {part} disable trigger workflow_run_events_refuse_delete",
        "drop trigger workflow_run_events_refuse_truncate on {part}",
        "create trigger planted before insert on {part} for each row execute function "
        "lenses.tg_append_only()",
        "alter table {part} rename to planted",
        "create table lenses.planted partition of lenses.workflow_run_events "
        "for values from ('2020-01-01Z') to ('2020-01-02Z')",
    ],
)
def test_a_day_that_was_tampered_with_is_a_finding(filled: Database, harm: str) -> None:
    part = filled.value(
        "select part from lenses.fn_partitions() where parent = 'lenses.workflow_run_events'::regclass "
        "limit 1"
    )
    filled.execute(harm.format(part=part))
    found = wrong(filled)
    assert any("unexpected" in line and ("planted" in line or part in line) for line in found)


def test_an_install_guards_days_again(filled: Database) -> None:
    part = filled.value("select part from lenses.fn_partitions() limit 1")
    table = part.rpartition("_")[0].rpartition(".")[2]
    filled.execute(
        f"grant select on {part} to service_role; drop policy {table}_engine_all on {part}; "
        f"alter table {part} no force row level security; "
        f"drop trigger {table}_refuse_truncate on {part}; "
        f"alter table {part} disable trigger {table}_refuse_delete"
    )
    assert wrong(filled) != []
    succeeded(lf_sql("install", dsn=filled.dsn))
    assert wrong(filled) == []


def test_a_foreign_table_as_partition_is_a_finding(filled: Database) -> None:
    filled.execute(
        "create extension file_fdw; create server planted foreign data wrapper file_fdw; "
        "create foreign table agents.action_logs_20200101 partition of agents.action_logs "
        "for values from ('2020-01-01Z') to ('2020-01-02Z') "
        "server planted options (filename '/dev/null')"
    )
    done = lf_sql("verify", dsn=filled.dsn)
    assert done.returncode == 1
    assert "agents.action_logs_20200101" in done.stdout + done.stderr


@pytest.mark.parametrize("options", [[], ["--enable-row-security", "--no-owner", "--no-acl"]])
def test_dump_and_restore(
    filled: Database, options: list[str], state: State, tmp_path: Path
) -> None:
    """Every row is back in the partition that it was in."""
    dump = str(tmp_path / "dump")
    tool("pg_dump", "-Fc", *options, "-d", filled.dsn, "-f", dump)
    name = state.fresh(installed=False)
    with connect(state.server.dsn(name)) as restored:
        tool("pg_restore", "--exit-on-error", "-d", restored.dsn, dump)
        succeeded(lf_sql("install", dsn=restored.dsn))
        assert wrong(restored) == []
        assert restored.rows(ROWS) == filled.rows(ROWS)
        assert days(restored) == days(filled)
        by_part = "select tableoid::regclass::text, id from lenses.workflow_run_events order by 2"
        assert restored.rows(by_part) == filled.rows(by_part)
        restored.execute("select setval('lenses.workflow_run_events_id_seq', currval) from "
                         "(select last_value as currval from lenses.workflow_run_events_id_seq) as s")  # fmt: skip
        fill(restored)
        assert restored.value("select count(distinct id) from lenses.workflow_run_events") == 10
    state.drop(name)


def test_data_alone(filled: Database, state: State, tmp_path: Path) -> None:
    """Into a database that has other days: each row finds its place."""
    dump = str(tmp_path / "dump")
    tool("pg_dump", "-Fc", "--data-only", "--load-via-partition-root", *("-t" + t for t in (
        "lenses.workflow_run_events*", "agents.agent_run_events*", "agents.action_logs*")),
        "-d", filled.dsn, "-f", dump)  # fmt: skip
    name = state.fresh(installed=True)
    with connect(state.server.dsn(name)) as restored:
        tool("pg_restore", "--exit-on-error", "-d", restored.dsn, dump)
        assert restored.rows(ROWS) == filled.rows(ROWS)
        assert days(restored) == []
    state.drop(name)


@pytest.fixture
def older(tmp_path: Path) -> Iterator[Plant]:
    release = RELEASES[-1]
    server = TestServer()
    try:
        done = release.install(release.unpack(tmp_path), server.dsn())
        assert done.returncode == 0, done
        yield Plant(server, install=False)
    finally:
        server.stop()


def test_an_upgrade_reads_and_writes_no_row(older: Plant) -> None:
    """The files of before are those of the default partitions; every row stays, and numbers go on."""
    older.fill(50)
    older.drain(0)
    files = "select relfilenode from unnest(%s::regclass[]) with ordinality as t (name, n) join pg_class on oid = name order by n"
    with connect(older.server.dsn()) as conn:
        tenant = conn.value("select id from lensers.profiles limit 1")
        conn.execute(
            "insert into lenses.workflow_run_events (lenser_id, run_id, seq, event_type, occurred_at) "
            "select %s, gen_random_uuid(), 1, 'old', now() - n * interval '1 minute' "
            "from generate_series(1, 10000) as n",
            [tenant],
        )
        before, rows = conn.column(files, [list(TABLES)]), conn.rows(ROWS)
    with product_db.connect(older.server.dsn()) as product:
        apply.install(product, bundle.load())
    with connect(older.server.dsn()) as conn:
        assert conn.column(files, [[f"{table}_default" for table in TABLES]]) == before
        assert conn.rows(ROWS) == rows
        assert wrong(conn) == []
        assert conn.value(MAKE)
        assert {day.parent for day in days(conn)} == set(TABLES)
    older.drain(1)
    older.check(2)
    with connect(older.server.dsn()) as conn:
        newest = max(row.id for row in rows if row[0] == "event")
        added = conn.column("select id from lenses.workflow_run_events where id > %s", [newest])
        assert len(added) == 50
        assert wrong(conn) == []
