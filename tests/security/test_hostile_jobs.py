"""The jobs outlive what they call, and run as whoever installed: what is somebody else's they do not call."""

from __future__ import annotations

import psycopg
import pytest

from lf_sql import bundle
from tests.security.planted import EVIL, calls, evil_in
from tests.support.database import Database, connect

JOBS = {
    job.name: job.command
    for job in bundle.load().jobs
    if job.place != "elsewhere" and job.lane < 3  # the further lanes differ by a number
}
PLANTED = """
create schema lenses; grant usage on schema lenses to public;
create view lenses.dispatch_settings as select make_interval(days => evil.trap()) as ticks_retention;
create procedure lenses.sp_dispatch_tick() language plpgsql as $$ begin perform evil.trap(); end $$;
create procedure lenses.sp_purge_history() language plpgsql as $$ begin perform evil.trap(); end $$;
"""


def refuses(db: Database) -> None:
    """Each job, as pg_cron runs it: a session of its own with the database's settings."""
    for name, command in JOBS.items():
        with (
            connect(db.dsn) as cron,
            pytest.raises(psycopg.errors.InsufficientPrivilege, match="does not belong to lf-sql"),
        ):
            cron.execute(command)
        assert calls(db) == 0, name


def test_where_lf_sql_is_gone_and_somebody_else_came(empty_db: Database) -> None:
    with evil_in(empty_db) as evil:
        refuses(empty_db)
        evil.execute(PLANTED)
        refuses(empty_db)
        empty_db.execute(f'alter database "{empty_db.dbname}" set role = {EVIL}')
        refuses(empty_db)


def test_where_a_procedure_was_given_away(db: Database) -> None:
    with evil_in(db):
        for name in ("sp_dispatch_tick", "sp_purge_history"):
            db.execute(f"alter procedure lenses.{name} owner to {EVIL}")
        refuses(db)


def test_where_it_is_ours_it_ticks(db: Database) -> None:
    """Its transactions are committed one by one."""
    tick = JOBS["dispatch-scheduled-workflows"]
    assert "call lenses.sp_dispatch_tick();" in tick
    ticks = "select count(*) from lenses.dispatch_ticks where finished_at is not null"
    before = db.value(ticks)
    with connect(db.dsn) as cron:
        cron.execute(tick)
    assert db.value(ticks) == before + 1
