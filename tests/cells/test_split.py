"""A cell is split by a standby: killed at every step, resumed or taken back, each slot exactly once."""

from __future__ import annotations

import json
import re
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from uuid import UUID

import pytest
from psycopg.conninfo import make_conninfo

from lf_sql.cells import move, split
from lf_sql.cells.directory import connected
from lf_sql.cells.half import half
from tests.cells.fleet import STREAMING, Fleet, Killed, dies_at, environment, made_fleet
from tests.support.cli import command, refused
from tests.support.database import connect, wait_until
from tests.support.server import TestServer
from tests.support.servers import standby_of
from tests.support.state import State

BEFORE = ["begun", "departed", "frozen", "replayed", "promoting"]
AFTER = ["promoted", "source unfrozen", "settled"]


@pytest.fixture(scope="module")
def streaming() -> Iterator[State]:
    """A server that can have standbys, with databases of its own."""
    state = State()
    state._server = TestServer(STREAMING)
    try:
        yield state
    finally:
        state.close()


@pytest.fixture
def rig(streaming: State) -> Iterator[tuple[Fleet, str, list[UUID]]]:
    """Cell `a` with four tenants of two schedules each, the DSN of a standby, the users."""
    with made_fleet(streaming, "a") as fleet:
        users = [fleet.place("a", 2) for _ in range(4)]
        fleet.tick(2)
        with standby_of(streaming.server) as dsn:
            yield fleet, make_conninfo(dsn, dbname=fleet.databases["a"].dbname), users
            fleet.leave("b")


Rig = tuple[Fleet, str, list[UUID]]


def test_half_of_the_tenants_go(rig: Rig) -> None:
    fleet, standby, users = rig
    done = fleet.lf("cells", "split", "a", "--standby", standby, "--to", "b", "--json")
    assert done.returncode == 0, done.stderr
    assert [(row["kind"], row["tenants"]) for row in json.loads(done.stdout)] == [("split", 2)]
    assert "--cell b" in done.stderr
    fleet.connect("b", standby)
    fleet.tick(2)
    fleet.check()
    assert sorted(name for user in users for name in fleet.active(user)) == ["a", "a", "b", "b"]
    assert fleet.made["b"] == 8
    for user in users:
        assert [fleet.whereabouts(user).cell] == fleet.active(user)
    claimed = fleet.claim_all()
    assert len(claimed) == len(set(claimed)) == len(fleet.slots())


def test_those_who_are_named_go(rig: Rig) -> None:
    fleet, standby, users = rig
    fleet.did("cells", "split", "a", "--standby", standby, "--to", "b", "--user", users[2])
    fleet.connect("b", standby)
    assert [fleet.active(user) for user in users] == [["a"], ["a"], ["b"], ["a"]]
    fleet.tick()
    fleet.did("cells", "move", users[2], "--to", "a")
    fleet.did("cells", "move", users[0], "--to", "b")
    fleet.tick()
    fleet.check()


@pytest.mark.parametrize("step", BEFORE + AFTER)
def test_killed_and_resumed(rig: Rig, step: str) -> None:
    fleet, standby, users = rig
    _cut_off(fleet, standby, step)
    with _looked_at(fleet, standby, step in AFTER):
        fleet.tick()
    fleet.did("cells", "resume")
    if step in BEFORE:
        fleet.connect("b", standby)
    fleet.tick(2)
    fleet.check()
    assert sorted(name for user in users for name in fleet.active(user)) == ["a", "a", "b", "b"]


@pytest.mark.parametrize("step", BEFORE)
def test_killed_and_taken_back(rig: Rig, step: str) -> None:
    fleet, standby, users = rig
    _cut_off(fleet, standby, step)
    fleet.tick()
    fleet.did("cells", "resume", "--take-back")
    fleet.tick(2)
    fleet.check()
    assert [fleet.active(user) for user in users] == [["a"]] * 4
    assert [row["name"] for row in json.loads(fleet.did("cells", "list", "--json"))] == ["a"]


@pytest.mark.parametrize("step", AFTER)
def test_what_is_promoted_cannot_be_taken_back(rig: Rig, step: str) -> None:
    fleet, standby, _ = rig
    _cut_off(fleet, standby, step)
    refused(fleet.lf("cells", "resume", "--take-back"), "promoted", "resume")
    fleet.connect("b", standby)
    fleet.did("cells", "resume")
    fleet.tick()
    fleet.check()


def test_kill_9_while_the_standby_is_behind(rig: Rig) -> None:
    fleet, standby, _ = rig
    with connect(standby) as there:
        there.execute("select pg_wal_replay_pause()")
        process = subprocess.Popen(
            command("cells", "split", "a", "--standby", standby, "--to", "b"),
            env=environment(fleet),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        settings = "select frozen_reason from lenses.dispatch_settings where is_frozen"
        wait_until(lambda: fleet.databases["a"].value(settings))
        process.send_signal(signal.SIGKILL)
        process.wait()
        fleet.tick()
        ours = "select count(*) from pg_stat_activity where application_name = 'lf-sql cells'"
        wait_until(lambda: fleet.databases["a"].value(ours) == 0)
        refused(fleet.lf("cells", "resume", "--wait", "0"), "has not replayed", "--take-back")
        there.execute("select pg_wal_replay_resume()")
    fleet.did("cells", "resume")
    fleet.connect("b", standby)
    fleet.tick()
    fleet.check()


def test_running_runs_of_those_who_stay_go_on(rig: Rig) -> None:
    fleet, standby, users = rig
    a = fleet.databases["a"]
    user = "select p.user_id from lensers.profiles as p where p.id = %s"
    run = a.row("select r.id, r.lenser_id from public.fn_claim_workflow_runs('w', 1) as r")
    stays = a.value(user, [run.lenser_id])
    goes = next(one for one in users if one != stays)
    fleet.did("cells", "split", "a", "--standby", standby, "--to", "b", "--user", goes)
    a.execute("select public.fn_complete_workflow_run(%s, 'w', '{}'::jsonb)", [run.id])
    fleet.connect("b", standby)
    fleet.tick()
    fleet.check()
    claimed = fleet.claim_all()
    assert len({*claimed, run.id}) == len(claimed) + 1 == len(fleet.slots())


def test_running_runs_of_those_who_go_are_waited_for(rig: Rig) -> None:
    fleet, standby, _ = rig
    a = fleet.databases["a"]
    user = "select p.user_id from lensers.profiles as p where p.id = %s"
    run = a.row("select r.id, r.lenser_id from public.fn_claim_workflow_runs('w', 1) as r")
    goes = a.value(user, [run.lenser_id])
    words = ("cells", "split", "a", "--standby", standby, "--to", "b", "--user", goes)
    refused(fleet.lf(*words, "--wait", "0"), "running", "resume")
    a.execute("select public.fn_complete_workflow_run(%s, 'w', '{}'::jsonb)", [run.id])
    fleet.did("cells", "resume")
    fleet.connect("b", standby)
    fleet.tick()
    fleet.check()
    assert fleet.active(goes) == ["b"]


def test_an_operator_s_own_freeze_stays(rig: Rig) -> None:
    fleet, standby, _ = rig
    fleet.did("freeze", "mine", "--cell", "a")
    fleet.did("cells", "split", "a", "--standby", standby, "--to", "b")
    fleet.connect("b", standby)
    for conn in fleet.databases.values():
        assert conn.value("select frozen_reason from lenses.dispatch_settings") == "mine"
    for name in ("a", "b"):
        fleet.did("unfreeze", "--cell", name)
    fleet.tick()
    fleet.check()


def test_the_copy_of_the_directory_goes(streaming: State) -> None:
    with made_fleet(streaming) as fleet:
        fleet.home = streaming.fresh(installed=True)
        fleet.directory_dsn = streaming.server.dsn(fleet.home)
        fleet.did("cells", "init")
        fleet.did("cells", "add", "a", "--dsn", fleet.directory_dsn)
        fleet.connect("a", fleet.directory_dsn)
        for _ in range(2):
            fleet.place("a")
        fleet.tick()
        with standby_of(streaming.server) as dsn:
            standby = make_conninfo(dsn, dbname=fleet.home)
            fleet.did("cells", "split", "a", "--standby", standby, "--to", "b")
            there = fleet.connect("b", standby)
            assert there.value("select to_regnamespace('lf_fleet')") is None
            fleet.tick()
            fleet.check()
            fleet.leave("b")


def test_what_cannot_be_split(rig: Rig) -> None:
    fleet, standby, users = rig
    a = fleet.databases["a"]
    split_a = ("cells", "split", "a", "--to", "b", "--standby")
    refused(fleet.lf(*split_a, a.dsn), "is no standby")
    refused(fleet.lf(*split_a, make_conninfo(standby, dbname="postgres")), "database postgres")
    fleet.add("c")
    user = fleet.place("c")
    refused(fleet.lf(*split_a, standby, "--user", user), str(user), "not in cell a")
    refused(fleet.lf("cells", "split", "a", "--to", "c", "--standby", standby), "already")
    refused(fleet.lf("cells", "split", "x", "--to", "b", "--standby", standby), "no cell 'x'")
    for one in users[1:]:
        fleet.did("cells", "move", one, "--to", "c")
    refused(fleet.lf(*split_a, standby), "nothing to split")
    names = [row["name"] for row in json.loads(fleet.did("cells", "list", "--json"))]
    assert names == ["a", "c"]


def test_a_standby_that_somebody_else_promoted_is_refused(rig: Rig) -> None:
    fleet, standby, users = rig
    _cut_off(fleet, standby, "begun")
    with connect(standby) as there:
        there.execute("select pg_promote()")
        wait_until(lambda: not there.value("select pg_is_in_recovery()"))
    refused(fleet.lf("cells", "resume"), "promoted before", "--take-back")
    fleet.did("cells", "resume", "--take-back")
    assert [fleet.active(user) for user in users] == [["a"]] * 4


def test_nobody_goes_to_a_cell_that_is_being_made(rig: Rig) -> None:
    fleet, standby, users = rig
    _cut_off(fleet, standby, "begun")
    rows = json.loads(fleet.did("cells", "list", "--json"))
    stays = [u for u in users if fleet.whereabouts(u).moving_to is None]
    assert [(row["name"], row["is_open"], row["coming"]) for row in rows][1] == ("b", False, 2)
    refused(fleet.lf("cells", "move", stays[0], "--to", "b"), "made by a split", "resume")
    new = "00000000-0000-4000-8000-000000000001"
    refused(fleet.lf("cells", "place", new, "--cell", "b"), "made by a split")
    fleet.did("cells", "resume", "--take-back")


def test_a_move_that_was_cut_off_is_ended_before_a_split(rig: Rig) -> None:
    """Or the new cell would have a copy of somebody on the way to a third one."""
    fleet, standby, users = rig
    fleet.add("c")
    with fleet.directory() as directory, pytest.raises(Killed):
        move.move(directory, users[0], directory.cell("c"), 0, dies_at("departed"))
    split_a = ("cells", "split", "a", "--to", "b", "--standby", standby)
    refused(fleet.lf(*split_a), "is not at its end", "cells resume")
    fleet.did("cells", "resume")
    fleet.did(*split_a)
    fleet.connect("b", standby)
    waiting = "select count(*) from lensers.profiles where departed_at is not null and departure_settled_at is null"
    assert fleet.databases["b"].value(waiting) == 0
    fleet.tick()
    fleet.check()


def test_the_half_weighs_as_much_as_the_rest(streaming: State) -> None:
    with made_fleet(streaming, "a") as fleet:
        for count in (8, 4, 3, 1):
            fleet.place("a", count)
        a = fleet.databases["a"]
        weights = {
            row.id: row.n
            for row in a.rows(
                "select lenser_id as id, count(*) as n from lenses.workflow_schedules group by 1"
            )
        }
        with fleet.directory() as directory:
            with connected(directory.cell("a")) as conn:
                goers = half(conn, list(weights))
        assert sum(weights[one] for one in goers) == 8


@contextmanager
def _looked_at(fleet: Fleet, standby: str, is_promoted: bool) -> Iterator[None]:
    """Whatever drives the new cell begins as soon as it takes writes."""
    if is_promoted:
        fleet.connect("b", standby)
    yield


def _cut_off(fleet: Fleet, standby: str, step: str) -> None:
    """A split that its process does not outlive."""
    assert re.fullmatch(r"[a-z ]+", step)
    with fleet.directory() as directory, pytest.raises(Killed):
        split.split(directory, directory.cell("a"), standby, "b", [], 60, dies_at(step))
