"""From the first release to this version while ticks run: no slot missed, grants and guards as on a fresh install."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from lf_sql import apply, bundle, verify
from lf_sql import db as product_db
from lf_sql.bundle import Bundle
from tests.crash.plant import Plant, dispatching
from tests.migrations.test_install import grown
from tests.support.cli import environment
from tests.support.database import Database, connect
from tests.support.server import TestServer
from tests.support.snapshot import snapshot

FIRST = "v0.1.0"
ROOT = Path(__file__).resolve().parents[2]
HEAD = bundle.load()
# A tick that meets the installer's locks: the server's own errors, the next tick goes on.
TRANSIENT = ("40P01", "55P03")


@dataclass(frozen=True)
class Pair:
    """An older version, by its own installer or as a bundle, and the one that replaces it."""

    old: Bundle
    new: Bundle
    installer: Path | None = None  # the checkout whose own installer is used

    def install_old(self, dsn: str) -> subprocess.CompletedProcess[str] | None:
        if self.installer is None:
            with product_db.connect(dsn) as conn:
                apply.install(conn, self.old)
            return None
        env = {**environment(), "PYTHONPATH": str(self.installer / "installer")}
        return subprocess.run(
            [sys.executable, "-m", "lf_sql", "--dsn", dsn, "install"],
            env=env, capture_output=True, text=True, check=False, cwd="/", timeout=120,
        )  # fmt: skip


def git(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["git", "-C", str(ROOT), *arguments], capture_output=True, text=True, check=False
    )


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    """The tagged release and HEAD; in a tree without the tag HEAD and what could come after it."""
    is_tagged = (
        shutil.which("git") and not git("rev-parse", "--verify", f"{FIRST}^{{commit}}").returncode
    )
    if is_tagged:
        folder = tmp_path_factory.mktemp("first") / "tree"
        archive = subprocess.run(
            ["git", "-C", str(ROOT), "archive", FIRST], capture_output=True, check=True
        ).stdout
        folder.mkdir()
        subprocess.run(["tar", "x", "-C", str(folder)], input=archive, check=True)
        old = bundle.load(folder / "sql", version=FIRST.removeprefix("v"))
        # HEAD may still be the release itself: then the version after it stands for the next.
        moved = (old.digest, len(old.migrations)) != (HEAD.digest, len(HEAD.migrations))
        # A release always has a number of its own; a tree on the way to it may still have the last one.
        yield Pair(old, replace(HEAD, version="99.0.0") if moved else grown(HEAD), folder)
        return
    yield Pair(replace(HEAD, version="0.0.1"), grown(HEAD))


@pytest.fixture
def place(pair: Pair) -> Iterator[Plant]:
    server = TestServer({"synchronous_commit": "on"})
    try:
        done = pair.install_old(server.dsn())
        assert done is None or done.returncode == 0, done
        yield Plant(server, install=False)
    finally:
        server.stop()


def test_an_upgrade_while_ticks_run(place: Plant, pair: Pair) -> None:
    place.fill(500)
    minute = 0
    with dispatching(place, lambda: minute, 3) as errors:
        for each in range(4):
            minute = each
            place.drain(minute)
        with product_db.connect(place.server.dsn()) as conn:
            outcome = apply.install(conn, pair.new)
        assert outcome.plan.is_pending
        for each in range(4, 8):
            minute = each
            place.drain(minute)
    assert [error for error in errors if not error.startswith(TRANSIENT)] == []
    place.check(8)
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
        if pair.installer:
            done = pair.install_old(place.server.dsn())
            assert done is not None
            assert done.returncode == 1
            assert "the database is newer" in done.stderr
        else:
            with pytest.raises(Exception, match="the database is newer"):
                pair.install_old(place.server.dsn())
        assert objects(conn) == before


def test_sequences_are_past_their_rows(place: Plant, pair: Pair) -> None:
    place.fill(50)
    place.drain(0)
    with product_db.connect(place.server.dsn()) as conn:
        apply.install(conn, pair.new)
    place.drain(1)
    place.check(2)
