"""The directory: cells are added and changed, tenants placed and found; bad input changes nothing."""

from __future__ import annotations

import json
from uuid import UUID, uuid4

import pytest

from tests.cells.fleet import Fleet
from tests.support.cli import lf_sql, refused, succeeded
from tests.support.database import connect, make_tenant


def test_init_is_safe_to_repeat(fleet: Fleet) -> None:
    assert fleet.did("cells", "init") == "the directory is there already\n"


def test_without_a_directory_commands_say_how_to_make_one(fleet: Fleet) -> None:
    done = lf_sql("cells", "list")
    assert done.returncode == 2
    assert "LF_SQL_DIRECTORY" in done.stderr
    dsn = fleet.databases["a"].dsn
    refused(lf_sql("cells", "list", "--directory", dsn), "no directory", "cells init")


def test_a_directory_that_is_down_is_said_to_be(fleet: Fleet) -> None:
    dsn = "host=/nowhere port=1 dbname=x connect_timeout=1"
    refused(lf_sql("cells", "list", "--directory", dsn), "directory does not answer", "--dsn")
    done = lf_sql("tenant", "list", "--cell", "a", env={"LF_SQL_DIRECTORY": dsn})
    refused(done, "directory does not answer", "--dsn")


def test_the_directory_keeps_no_password(fleet: Fleet) -> None:
    dsn = f"{fleet.databases['a'].dsn} password=secret"
    done = fleet.lf("cells", "set", "a", "--dsn", dsn)
    assert ".pgpass" in done.stderr
    assert "secret" not in succeeded(done)
    with connect(fleet.directory_dsn) as conn:
        assert conn.value("select count(*) from lf_fleet.cells where conninfo ~ 'secret'") == 0


def test_the_address_alone_of_a_tenant_s_cell(fleet: Fleet) -> None:
    user = fleet.place("a")
    said = fleet.did("cells", "locate", user, "--dsn-only").strip()
    assert json.loads(fleet.did("cells", "locate", user, "--dsn-only", "--json")) == said


def test_a_new_address_must_have_the_tenants(fleet: Fleet) -> None:
    user = fleet.place("a")
    other = fleet.state.server.dsn(fleet.state.fresh(installed=True))
    refused(fleet.lf("cells", "set", "a", "--dsn", other), "not there", str(user))
    assert fleet.whereabouts(user).cell == "a"
    fleet.did("cells", "set", "b", "--dsn", other)
    fleet.did("cells", "set", "a", "--dsn", f"{fleet.databases['a'].dsn} connect_timeout=7")
    fleet.did("cells", "verify")


@pytest.mark.parametrize("name", ["", "With Blank", "a" * 64, "ä"])
def test_a_name_that_is_none(fleet: Fleet, name: str) -> None:
    refused(fleet.lf("cells", "add", name, "--dsn", fleet.databases["a"].dsn), "no name")


def test_a_name_that_is_taken(fleet: Fleet) -> None:
    refused(fleet.lf("cells", "add", "a", "--dsn", fleet.databases["b"].dsn), "already", "set a")


def test_a_database_without_lf_sql_is_no_cell(fleet: Fleet) -> None:
    refused(fleet.lf("cells", "add", "c", "--dsn", fleet.directory_dsn), "cell c", "not installed")
    assert "c" not in [row["name"] for row in json.loads(fleet.did("cells", "list", "--json"))]


def test_a_mistyped_name_gets_a_suggestion(fleet: Fleet) -> None:
    fleet.add("berlin")
    refused(fleet.lf("cells", "set", "berlim", "--open"), "the nearest is", "berlin")


def test_add_takes_in_the_tenants_that_are_there(fleet: Fleet) -> None:
    name = fleet.state.fresh(installed=True)
    dsn = fleet.state.server.dsn(name)
    with connect(dsn) as conn:
        tenants = [make_tenant(conn) for _ in range(3)]
    answer = json.loads(fleet.did("cells", "add", "c", "--dsn", dsn, "--json"))
    assert answer["taken_in"] == 3
    for tenant in tenants:
        assert json.loads(fleet.did("cells", "locate", tenant.user_id, "--json"))["cell"] == "c"


def test_a_tenant_of_another_cell_keeps_a_cell_out(fleet: Fleet) -> None:
    user = fleet.place("a")
    name = fleet.state.fresh(installed=True)
    dsn = fleet.state.server.dsn(name)
    with connect(dsn) as conn:
        conn.execute("insert into lensers.profiles (user_id) values (%s)", [user])
    refused(fleet.lf("cells", "add", "c", "--dsn", dsn), str(user), "in a")
    assert "c" not in [row["name"] for row in json.loads(fleet.did("cells", "list", "--json"))]


def test_set_takes_in_who_was_created_without_the_directory(fleet: Fleet) -> None:
    tenant = make_tenant(fleet.databases["a"])
    refused(fleet.lf("cells", "locate", tenant.user_id), "no cell is known", "cells place")
    done = fleet.lf("cells", "verify")
    assert done.returncode == 1
    assert "cells set a" in done.stdout
    assert json.loads(fleet.did("cells", "set", "a", "--json"))["taken_in"] == 1
    assert fleet.whereabouts(tenant.user_id).cell == "a"
    fleet.did("cells", "verify")


def test_new_tenants_go_where_the_fewest_are(fleet: Fleet) -> None:
    found = [json.loads(fleet.did("cells", "place", uuid4(), "--json"))["cell"] for _ in range(4)]
    assert found == ["a", "b", "a", "b"]
    fleet.did("cells", "set", "a", "--closed")
    assert json.loads(fleet.did("cells", "place", uuid4(), "--json"))["cell"] == "b"
    fleet.did("cells", "set", "b", "--closed")
    refused(fleet.lf("cells", "place", uuid4()), "no cell is open", "--open")


def test_place_is_safe_to_repeat(fleet: Fleet) -> None:
    user = uuid4()
    first = fleet.did("cells", "place", user, "--handle", "acme", "--json")
    assert fleet.did("cells", "place", user, "--json") == first
    refused(fleet.lf("cells", "place", user, "--cell", "b"), "in cell a already", "cells move")
    row = fleet.databases["a"].row("select id, handle from lensers.profiles")
    assert (str(row.id), row.handle) == (json.loads(first)["lenser_id"], "acme")


def test_place_goes_on_where_it_was_cut_off(fleet: Fleet) -> None:
    """The directory knew, the cell did not: then both."""
    user = uuid4()
    with connect(fleet.directory_dsn) as conn:
        conn.execute(
            "insert into lf_fleet.tenants (user_id, cell_id) "
            "select %s, id from lf_fleet.cells where name = 'b'",
            [user],
        )
    assert "cells place" in fleet.lf("cells", "verify").stdout
    assert json.loads(fleet.did("cells", "place", user, "--json"))["cell"] == "b"
    assert fleet.active(user) == ["b"]
    fleet.did("cells", "verify")


def test_what_is_no_user_is_wrong_usage(fleet: Fleet) -> None:
    for command in (("place",), ("locate",), ("move", "--to", "b")):
        done = fleet.lf("cells", command[0], "acme", *command[1:])
        assert done.returncode == 2
        assert "user id" in done.stderr


def test_as_finds_the_cell_by_itself(fleet: Fleet) -> None:
    users = {name: fleet.place(name) for name in ("a", "b")}
    for name, user in users.items():
        for more in (["--as", user], ["--as", user, "--cell", name]):
            rows = json.loads(fleet.did("schedule", "list", "--json", *more))
            assert len(rows) == 1
            there = fleet.databases[name].column("select id from lenses.workflow_schedules")
            assert [UUID(row["id"]) for row in rows] == there
        rows = json.loads(fleet.did("tenant", "list", "--cell", name, "--json"))
        assert [row["user_id"] for row in rows] == [str(user)]
    refused(fleet.lf("schedule", "list", "--as", uuid4()), "no cell is known", "cells place")
    assert fleet.lf("schedule", "list", "--as", "nobody").returncode == 2


def test_dsn_outranks_the_directory(fleet: Fleet) -> None:
    user = fleet.place("a")
    done = fleet.lf("schedule", "list", "--as", user, "--dsn", fleet.databases["b"].dsn)
    refused(done, "no tenant")
    done = fleet.lf("tenant", "list", "--cell", "a", "--dsn", fleet.databases["b"].dsn)
    assert done.returncode == 2
    assert "--dsn and --cell" in done.stderr


def test_a_cell_without_a_directory_is_wrong_usage() -> None:
    done = lf_sql("tenant", "list", "--cell", "a")
    assert done.returncode == 2
    assert "LF_SQL_DIRECTORY" in done.stderr
