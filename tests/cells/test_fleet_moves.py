"""Tenants move between cells: killed at every step, resumed or taken back, each slot exactly once."""

from __future__ import annotations

import json
import signal
import subprocess
from uuid import UUID, uuid4

import pytest

from lf_sql.cells import journal, move, tenant
from lf_sql.cells.directory import connected
from tests.cells.fleet import Fleet, Killed, dies_at, environment
from tests.support.cli import command, lf_sql, refused
from tests.support.database import connect, wait_until


def test_a_tenant_moves_with_all_its_slots(fleet: Fleet) -> None:
    user, stays = fleet.place("a", 3), fleet.place("a")
    fleet.tick(2)
    rows = json.loads(fleet.did("cells", "move", user, "--to", "b", "--json"))
    assert [(row["from_cell"], row["to_cell"], row["outcome"]) for row in rows] == [
        ("a", "b", "done")
    ]
    assert fleet.active(user) == ["b"]
    assert fleet.active(stays) == ["a"]
    assert tuple(fleet.whereabouts(user)) == ("b", None)
    fleet.tick(2)
    fleet.check()
    assert fleet.made["b"] == 6
    claimed = fleet.claim_all()
    assert len(claimed) == len(set(claimed)) == len(fleet.slots())


def test_there_and_back(fleet: Fleet) -> None:
    user = fleet.place("a", 2)
    for to in ("b", "a", "b"):
        fleet.tick()
        fleet.did("cells", "move", user, "--to", to)
    fleet.tick()
    fleet.check()
    assert fleet.active(user) == ["b"]


def test_the_old_cell_says_where_the_tenant_is(fleet: Fleet) -> None:
    user = fleet.place("a")
    fleet.did("cells", "move", user, "--to", "b")
    old = ["--dsn", fleet.databases["a"].dsn]
    for line in (
        ("workflow", "create", "W2"),
        ("schedule", "list"),
        ("schedule", "health"),
        ("console", "--port", "0"),
    ):
        said = refused(lf_sql(*line, "--as", str(user), *old), "lives in another cell")
        assert "hint: The tenant lives in cell b." in said
    stranger = ["--as", str(uuid4())]
    refused(lf_sql("schedule", "list", *stranger, *old), "no tenant", "lf-sql tenant list")


def test_who_is_there_already_does_not_move(fleet: Fleet) -> None:
    user = fleet.place("a")
    done = fleet.lf("cells", "move", user, "--to", "a", "--json")
    assert json.loads(done.stdout) == []
    assert "in cell a already" in done.stderr


@pytest.mark.parametrize("step", move.STEPS)
def test_killed_and_resumed(fleet: Fleet, step: str) -> None:
    user = fleet.place("a", 2)
    fleet.tick()
    _cut_off(fleet, user, step)
    assert fleet.active(user) == {"begun": ["a"], "departed": [], "arrived": ["b"]}[step]
    fleet.tick()
    assert "stands at" in fleet.lf("cells", "health").stdout
    refused(fleet.lf("cells", "move", user, "--to", "b"), "moving already", "resume")
    fleet.did("cells", "resume")
    assert fleet.active(user) == ["b"]
    fleet.tick()
    fleet.check()
    assert json.loads(fleet.did("cells", "resume", "--json")) == []


@pytest.mark.parametrize("step", move.STEPS)
def test_killed_and_taken_back(fleet: Fleet, step: str) -> None:
    user = fleet.place("a", 2)
    fleet.tick()
    _cut_off(fleet, user, step)
    fleet.tick()
    done = fleet.lf("cells", "resume", "--take-back")
    if step == "arrived":
        refused(done, "has arrived", "the other way")
        fleet.did("cells", "resume")
    else:
        assert done.returncode == 0, done.stderr
    where = "b" if step == "arrived" else "a"
    assert fleet.active(user) == [where]
    assert tuple(fleet.whereabouts(user)) == (where, None)
    fleet.tick()
    fleet.check()
    claimed = fleet.claim_all()
    assert len(claimed) == len(set(claimed)) == len(fleet.slots())


def test_killed_again_and_again(fleet: Fleet) -> None:
    """Each attempt dies one step later than the one before."""
    user = fleet.place("a", 2)
    fleet.tick()
    _cut_off(fleet, user, "begun")
    for step in ("departed", "arrived"):
        with fleet.directory() as directory, pytest.raises(Killed):
            (entry,) = journal.unfinished(directory)
            move.carry_on(directory, entry, 0, dies_at(step))
        fleet.tick()
    fleet.did("cells", "resume")
    fleet.tick()
    fleet.check()


def test_kill_9_while_it_arrives(fleet: Fleet) -> None:
    """A process of its own ends in the middle of the arrival: the target has nothing of it."""
    user = fleet.place("a", 2)
    fleet.tick()
    target = fleet.databases["b"]
    with connect(target.dsn) as blocker, blocker.transaction():
        blocker.execute("lock table lensers.profiles in exclusive mode")
        process = subprocess.Popen(
            command("cells", "move", str(user), "--to", "b"),
            env=environment(fleet),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        waiting = (
            "select count(*) from pg_stat_activity where datname = %s and wait_event_type = 'Lock'"
        )
        wait_until(lambda: target.value(waiting, [target.dbname]))
        refused(fleet.lf("cells", "resume"), "under way in another process")
        refused(fleet.lf("cells", "resume", "--take-back"), "under way in another process")
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert fleet.active(user) == []
    fleet.tick()
    ours = "select count(*) from pg_stat_activity where application_name = 'lf-sql cells'"
    wait_until(lambda: target.value(ours) == 0)
    fleet.did("cells", "resume")
    fleet.tick()
    fleet.check()
    assert fleet.active(user) == ["b"]


def test_running_runs_keep_the_tenant(fleet: Fleet) -> None:
    user = fleet.place("a", 2)
    fleet.tick()
    run = fleet.databases["a"].value("select r.id from public.fn_claim_workflow_runs('w', 1) as r")
    done = fleet.lf("cells", "move", user, "--to", "b", "--wait", "0")
    refused(done, "stays in a", "running")
    assert fleet.active(user) == ["a"]
    assert tuple(fleet.whereabouts(user)) == ("a", None)
    fleet.databases["a"].execute(
        "select public.fn_complete_workflow_run(%s, 'w', '{}'::jsonb)", [run]
    )
    fleet.tick()
    fleet.did("cells", "move", user, "--to", "b", "--wait", "0")
    fleet.tick()
    fleet.check()


def test_a_target_that_refuses_gives_the_tenant_back(fleet: Fleet) -> None:
    """Another tenant of the target has the id of one of its schedules."""
    user, other = fleet.place("a"), fleet.place("b")
    fleet.tick()
    row = fleet.databases["a"].row("select id from lenses.workflow_schedules")
    fleet.databases["b"].execute(
        "insert into lenses.workflow_schedules (id, workflow_id, cron_expr, is_active) "
        "select %s, w.id, '* * * * *', false from lenses.workflows as w",
        [row.id],
    )
    refused(fleet.lf("cells", "move", user, "--to", "b"), "stays in a", str(row.id))
    assert (fleet.active(user), fleet.active(other)) == (["a"], ["b"])
    assert tuple(fleet.whereabouts(user)) == ("a", None)


def test_cells_of_two_versions_move_nobody(fleet: Fleet) -> None:
    user = fleet.place("a")
    fleet.databases["b"].execute("update lf_sql.installs set product_version = '9.9.9'")
    refused(fleet.lf("cells", "move", user, "--to", "b"), "9.9.9", "cells upgrade")
    assert fleet.active(user) == ["a"]


def test_two_active_copies_are_told(fleet: Fleet) -> None:
    user = fleet.place("a")
    _cut_off(fleet, user, "arrived")
    lenser = fleet.databases["a"].value("select id from lensers.profiles")
    a = fleet.databases["a"]
    with a.transaction():
        a.execute("set local role lf_sql_engine")
        a.execute(
            "update lensers.profiles set departed_at = null, departed_to = null, "
            "departure_settled_at = null where id = %s",
            [lenser],
        )
    refused(fleet.lf("cells", "resume"), "active in a and in b", "verify")
    done = fleet.lf("cells", "verify")
    assert done.returncode == 1
    assert "active in several cells: a, b" in done.stdout


def test_a_tenant_that_nobody_placed(fleet: Fleet) -> None:
    refused(fleet.lf("cells", "move", uuid4(), "--to", "b"), "no cell is known", "cells place")


def test_a_directory_that_is_down_stops_no_tick(fleet: Fleet) -> None:
    user = fleet.place("a")
    home = fleet.home
    with connect(fleet.state.server.dsn()) as admin:
        admin.execute(f"alter database {home} allow_connections false")
        admin.execute(
            "select pg_terminate_backend(pid) from pg_stat_activity where datname = %s", [home]
        )
        refused(fleet.lf("cells", "move", user, "--to", "b"), "directory does not answer")
        fleet.tick(3)
        assert fleet.made["a"] == 3
        admin.execute(f"alter database {home} allow_connections true")
    fleet.did("cells", "move", user, "--to", "b")
    fleet.tick()
    fleet.check()


def test_presence_follows_the_steps(fleet: Fleet) -> None:
    user = fleet.place("a")
    lenser = fleet.databases["a"].value("select id from lensers.profiles")
    _cut_off(fleet, user, "departed")
    with fleet.directory() as directory:
        with connected(directory.cell("a")) as a, connected(directory.cell("b")) as b:
            assert tenant.presence(a, lenser) == "departed"
            assert tenant.presence(b, lenser) == "absent"


def _cut_off(fleet: Fleet, user: UUID, step: str) -> None:
    """A move that its process does not outlive."""
    with fleet.directory() as directory, pytest.raises(Killed):
        move.move(directory, user, directory.cell("b"), 0, dies_at(step))
