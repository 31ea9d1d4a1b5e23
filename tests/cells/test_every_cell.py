"""Commands that go over all cells: upgrade, health, metrics, verify; and executors of all cells."""

from __future__ import annotations

import json

from lf_sql.cells import directory as directories
from tests.cells.fleet import Fleet, down
from tests.support.cli import lf_sql, refused
from tests.support.database import connect, wait_until
from tests.support.processes import running


def outdated(fleet: Fleet, *names: str) -> None:
    for name in names:
        fleet.databases[name].execute("update lf_sql.installs set source_digest = 'older'")


def test_upgrade_goes_from_cell_to_cell(fleet: Fleet) -> None:
    outdated(fleet, "a", "b")
    rows = json.loads(fleet.did("cells", "upgrade", "--json"))
    assert [(row["cell"], row["changed"]) for row in rows] == [("a", True), ("b", True)]
    rows = json.loads(fleet.did("cells", "upgrade", "--json"))
    assert [(row["cell"], row["changed"]) for row in rows] == [("a", False), ("b", False)]


def test_upgrade_stops_at_the_first_that_fails(fleet: Fleet) -> None:
    fleet.add("c")
    outdated(fleet, "a", "b", "c")
    with down(fleet, "b"):
        refused(fleet.lf("cells", "upgrade"), "cell b", "not begun: c", "upgrade goes on")
    states = "select source_digest = 'older' from lf_sql.installs order by id desc limit 1"
    assert [conn.value(states) for conn in fleet.databases.values()] == [False, True, True]
    fleet.did("cells", "upgrade")
    assert [conn.value(states) for conn in fleet.databases.values()] == [False, False, False]


def test_upgrade_of_one_cell(fleet: Fleet) -> None:
    outdated(fleet, "a", "b")
    rows = json.loads(fleet.did("cells", "upgrade", "--cell", "b", "--json"))
    assert [row["cell"] for row in rows] == ["b"]


def test_health_of_all_cells(fleet: Fleet) -> None:
    with down(fleet, "b"):
        done = fleet.lf("cells", "health", "--json")
    assert done.returncode == 1
    rows = json.loads(done.stdout)
    assert {row["cell"] for row in rows} == {"a", "b"}
    found = [(row["check"], row["state"]) for row in rows if row["cell"] == "b"]
    assert found == [("cell", "bad")]
    assert fleet.lf("cells", "health", "--cell", "a").stdout.count("\nb\t") == 0


def test_verify_names_the_cell(fleet: Fleet) -> None:
    fleet.did("cells", "verify")
    fleet.databases["b"].execute("drop function public.fn_schedule_health()")
    done = fleet.lf("cells", "verify", "--json")
    assert done.returncode == 1
    assert {row["cell"] for row in json.loads(done.stdout)} == {"b"}


def test_verify_says_which_cell_does_not_answer(fleet: Fleet) -> None:
    fleet.place("b")
    with down(fleet, "b"):
        done = fleet.lf("cells", "verify", "--json")
    rows = json.loads(done.stdout)
    assert [(row["cell"], row["kind"]) for row in rows] == [("b", "cell")]


def test_verify_finds_a_tenant_in_the_wrong_cell(fleet: Fleet) -> None:
    user = fleet.place("a")
    with connect(fleet.directory_dsn) as conn:
        conn.execute(
            "update lf_fleet.tenants set cell_id = (select id from lf_fleet.cells where name = 'b')"
        )
    done = fleet.lf("cells", "verify")
    assert done.returncode == 1
    assert "the directory says b" in done.stdout
    assert f"move {user} --to a mends it" in done.stdout
    fleet.did("cells", "move", user, "--to", "a")
    fleet.did("cells", "verify")


def test_an_executor_for_all_cells(fleet: Fleet) -> None:
    for name in ("a", "b"):
        fleet.place(name, 3)
    fleet.tick()
    done = fleet.lf("runs", "work", "--cells", "--once", "--", "echo", "{}")
    assert done.returncode == 0, done.stderr
    assert "6 completed" in done.stderr
    status = "select count(*) from lenses.workflow_runs where status = 'completed'"
    assert [conn.value(status) for conn in fleet.databases.values()] == [3, 3]


def test_a_cell_that_is_down_does_not_hold_up_the_others(fleet: Fleet) -> None:
    for name in ("a", "b"):
        fleet.place(name)
    fleet.tick()
    with connect(fleet.directory_dsn) as conn:
        conn.execute(
            "update lf_fleet.cells set conninfo = 'host=/nowhere dbname=x' where name = 'b'"
        )
    done = fleet.lf("runs", "work", "--cells", "--once", "--", "echo", "{}")
    assert done.returncode == 1
    assert "1 completed" in done.stderr
    assert "not all cells were worked for: b" in done.stderr


def test_an_executor_of_all_cells_ends_at_a_signal(fleet: Fleet) -> None:
    for name in ("a", "b"):
        fleet.place(name)
    env = {directories.VARIABLE: fleet.directory_dsn}
    words = ("runs", "work", "--cells", "--", "echo", "{}")
    with running("", *words, env=env) as process:
        fleet.tick()
        status = "select count(*) from lenses.workflow_runs where status = 'completed'"
        for conn in fleet.databases.values():
            wait_until(lambda conn=conn: conn.value(status) == 1)
        assert process.stop() == 0, process.output


def test_cells_and_one_cell_exclude_each_other(fleet: Fleet) -> None:
    done = fleet.lf("runs", "work", "--cells", "--cell", "a", "--", "true")
    assert done.returncode == 2
    assert lf_sql("runs", "work", "--cells", "--", "true").returncode == 2
