"""From each release to this version while ticks run: no slot missed, grants and guards as on a fresh install."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from lf_sql import apply, bundle, verify
from lf_sql import db as product_db
from lf_sql.bundle import Bundle
from tests.faults.plant import Plant, dispatching
from tests.install.releases import REFUSED_AT_COMMIT, RELEASES, Release, tree_id
from tests.install.test_install import grown
from tests.support.cli import environment
from tests.support.database import Database, connect, wait_until
from tests.support.server import TestServer
from tests.support.snapshot import snapshot

HEAD = bundle.load()
# A tick that meets the installer's locks: the server's own errors, the next tick goes on.
TRANSIENT = ("40P01", "55P03")
DISPATCHERS = 3


@dataclass(frozen=True)
class Pair:
    """A release with its own installer, and the version that replaces it."""

    release: Release
    new: Bundle
    folder: Path  # the release's tree

    def install_old(self, dsn: str) -> subprocess.CompletedProcess[str]:
        return self.release.install(self.folder, dsn)


@pytest.fixture(scope="module", params=RELEASES, ids=lambda release: release.tag)
def pair(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Pair:
    """A release and HEAD."""
    release: Release = request.param
    folder = release.unpack(tmp_path_factory.mktemp(release.tag))
    env = {**environment(), "PYTHONPATH": str(folder / "installer")}
    # Read by its own installer: jobs and headers had other forms then.
    read = (
        "import json; from lf_sql import bundle; b = bundle.load(); "
        "print(json.dumps([b.version, b.digest, len(b.migrations)]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", read], env=env, capture_output=True, text=True, check=True, cwd="/"
    )
    version, digest, migrations = json.loads(done.stdout)
    assert version == release.version
    # HEAD may still be the release itself: then the version after it stands for the next.
    moved = (digest, migrations) != (HEAD.digest, len(HEAD.migrations))
    # A release always has a number of its own; a tree on the way to it may still have the last one.
    return Pair(release, replace(HEAD, version="99.0.0") if moved else grown(HEAD), folder)


@pytest.fixture
def place(pair: Pair) -> Iterator[Plant]:
    server = TestServer({"synchronous_commit": "on"})
    try:
        done = pair.install_old(server.dsn())
        assert done.returncode == 0, done
        yield Plant(server, install=False)
    finally:
        server.stop()


def test_the_release_is_the_tagged_one(pair: Pair) -> None:
    for name, tree in pair.release.trees.items():
        assert tree_id(pair.folder / name) == tree
        assert pair.release.tagged(name) in (tree, None)


def test_an_upgrade_while_ticks_run(place: Plant, pair: Pair) -> None:
    place.fill(500)
    minute = 0

    def ticked() -> bool:
        with place.connect() as conn:
            return place.count == conn.value(
                "select count(*) from lenses.workflow_runs where scheduled_for = %s",
                [place.at(minute)],
            )

    def upgrade() -> apply.Outcome:
        with product_db.connect(place.server.dsn()) as conn:
            return apply.install(conn, pair.new)

    with dispatching(place, lambda: minute, DISPATCHERS) as errors, ThreadPoolExecutor(1) as pool:
        wait_until(ticked)
        upgraded = pool.submit(upgrade)
        after = 0
        while after < 3:
            after += upgraded.done()
            minute += 1
            wait_until(ticked)
        assert upgraded.result().plan.is_pending
    strange = [error for error in errors if not error.startswith(TRANSIENT)]
    assert [error for error in strange if not error.startswith(REFUSED_AT_COMMIT)] == []
    assert len(strange) <= DISPATCHERS, strange  # once each
    place.check(minute + 1)
    with product_db.connect(place.server.dsn()) as conn:
        report = verify.verify(conn, pair.new)
        assert report.findings == []


def test_it_is_as_if_installed_afresh(place: Plant, pair: Pair) -> None:
    with connect(place.server.dsn()) as conn:
        conn.execute("create database fresh")
    with product_db.connect(place.server.dsn("fresh")) as conn:
        apply.install(conn, pair.new)
    with product_db.connect(place.server.dsn()) as conn:
        apply.install(conn, pair.new)
    with connect(place.server.dsn()) as upgraded, connect(place.server.dsn("fresh")) as fresh:
        assert objects(upgraded) == objects(fresh)


def objects(conn: Database) -> set[tuple[str, str]]:
    """Without the database's own name."""
    return {row for row in snapshot(conn, roles=False) if row[0] != "database"}


def test_it_goes_on_after_an_upgrade_that_was_killed(place: Plant, pair: Pair) -> None:
    """The old version ticks on; the next try finishes."""
    place.fill(100)
    place.drain(0)
    with product_db.connect(place.server.dsn()) as conn, connect(place.server.dsn()) as killer:

        def die(line: str) -> None:
            if "sources" in line:
                killer.execute("select pg_terminate_backend(%s)", [conn.info.backend_pid])

        with pytest.raises(Exception, match=r"terminat|closed|lost"):
            apply.install(conn, pair.new, say=die)
    place.drain(1)
    with product_db.connect(place.server.dsn()) as conn:
        apply.install(conn, pair.new)
    place.drain(2)
    place.check(3)


def test_the_older_installer_refuses_the_newer_database(place: Plant, pair: Pair) -> None:
    with product_db.connect(place.server.dsn()) as conn:
        apply.install(conn, pair.new)
    with connect(place.server.dsn()) as conn:
        before = objects(conn)
        done = pair.install_old(place.server.dsn())
        assert done.returncode == 1
        assert "the database is newer" in done.stderr
        assert objects(conn) == before


def test_sequences_are_past_their_rows(place: Plant, pair: Pair) -> None:
    place.fill(50)
    place.drain(0)
    with product_db.connect(place.server.dsn()) as conn:
        apply.install(conn, pair.new)
    place.drain(1)
    place.check(2)


ODD = """
update lenses.workflow_runs set spent_credits = 'NaN' where id in (select id from lenses.workflow_runs limit 3);
insert into agents.ai_lensers (lenser_id) select id from lensers.profiles limit 2;
insert into agents.policies (ai_lenser_id, spending_limit_credits)
select id, (array['NaN', '5'])[row_number() over ()]::numeric from agents.ai_lensers;
insert into agents.gateways (lenser_id, name) select id, 'eu' from lensers.profiles limit 1;
insert into agents.gateway_crons (gateway_id, operation, cron_expr)
select id, o, '*/5 * * * *' from agents.gateways, unnest(array['past', 'never', 'gone', 'fine']) as o;
update agents.gateway_crons
set next_run_at = (array['-infinity', 'infinity', null, '2100-01-01Z'])[array_position(array['past', 'never', 'gone', 'fine'], operation)]::timestamptz;
insert into lenses.workflow_schedules (workflow_id, description, interval_ms)
select id, d, 3600000 from (select id from lenses.workflows limit 1) as w, unnest(array['made', 'due']) as d;
update lenses.workflow_schedules set created_at = 'infinity' where description = 'made';
update lenses.workflow_schedules set due_at = 'infinity' where description = 'due';
"""


@pytest.mark.parametrize("pair", RELEASES[:1], indirect=True, ids=lambda release: release.tag)
def test_values_that_no_row_takes_any_more_are_mended(place: Plant, pair: Pair) -> None:
    place.fill(10)
    place.drain(0)
    with place.connect() as conn:
        conn.execute(ODD)
        slots = "select description, next_run_at from lenses.workflow_schedules where interval_ms > 0 order by 1"
        before = conn.rows(slots)
        began = conn.value("select now()")
    with product_db.connect(place.server.dsn()) as product:
        apply.install(product, pair.new)
    with place.connect() as conn:
        spent = "select distinct spent_credits::text from lenses.workflow_runs"
        assert conn.column(spent) == ["0.0000"]
        limits = "select spending_limit_credits from agents.policies order by 1"
        assert conn.column(limits) == [5, None]
        assert conn.rows(
            "select operation, next_run_at > %s and next_run_at <= now() + interval '5 minutes' "
            "from agents.gateway_crons order by 1",
            [began],
        ) == [("fine", False), ("gone", None), ("never", True), ("past", True)]
        assert conn.rows(slots) == before
        conn.execute("update lenses.workflow_schedules set description = description || '!'")
        assert conn.rows(
            "select s.description, s.next_run_at > now() and s.due_at = s.next_run_at and s.due_at = d.due_at as due, "
            "s.created_at <= now() and s.next_run_at = lenses.fn_next_slot("
            "s.cron_spec, s.timezone, s.interval_ms, s.created_at, s.start_at, s.end_at, now()) as next "
            "from lenses.workflow_schedules as s join lenses.schedule_due as d on d.schedule_id = s.id "
            "where s.interval_ms > 0 order by 1"
        ) == [("due!", True, True), ("made!", True, True)]
