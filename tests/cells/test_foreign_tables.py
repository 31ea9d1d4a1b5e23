"""The script that lets SQL read over all cells, applied by psql to a real server."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from typing import Any

import pytest

from lf_sql.cells import foreign
from lf_sql.cells.directory import Cell
from tests.cells.fleet import Fleet, down
from tests.support.cli import lf_sql, refused, succeeded
from tests.support.database import Database, connect, make_tenant

STRANGER = "lf_test_fdw_stranger"


@pytest.fixture
def home(fleet: Fleet) -> Iterator[Database]:
    """The directory's database."""
    with connect(fleet.directory_dsn) as conn:
        found = "select count(*) from pg_available_extensions where name = 'postgres_fdw'"
        if not conn.value(found):
            pytest.skip("this build of PostgreSQL has no postgres_fdw")
        yield conn


def psql(home: Database, script: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["psql", "-X", "-q", "-d", home.dsn], input=script, text=True,
        capture_output=True, check=False,
    )  # fmt: skip


def script(fleet: Fleet) -> str:
    return fleet.did("cells", "foreign-tables")


def applied(fleet: Fleet, home: Database) -> None:
    done = psql(home, script(fleet))
    assert (done.returncode, done.stdout, done.stderr) == (0, "", ""), done.stderr


def mapped(home: Database, *cells: str) -> None:
    for cell in cells:
        home.execute(
            f"create user mapping for current_user server lf_cell_{cell} options (user 'postgres')"
        )


def made(home: Database) -> dict[str, Any]:
    """Servers with their options, and the schemas with their tables."""
    servers = home.rows(
        "select srvname, srvoptions::text as options, "
        "(select count(*) from pg_user_mappings as m where m.srvid = s.oid) as mappings "
        "from pg_foreign_server as s order by srvname"
    )
    tables = home.column(
        "select ftrelid::regclass::text from pg_foreign_table order by ftrelid::regclass::text"
    )
    views = home.rows("select viewname, definition from pg_views where schemaname = 'lf_fleet'")
    schemas = home.column("select nspname from pg_namespace where nspname like 'lf\\_cell%%'")
    return {"servers": servers, "tables": tables, "views": sorted(views), "schemas": schemas}


def test_rows_of_all_cells(fleet: Fleet, home: Database) -> None:
    users = {name: fleet.place(name, 2) for name in ("a", "b")}
    fleet.tick()
    applied(fleet, home)
    mapped(home, "a", "b")
    for kind in foreign.KINDS:
        for name, conn in fleet.databases.items():
            there = conn.rows(f"select * from lenses.cell_{kind}")
            here = home.rows(f"select * from lf_fleet.all_{kind} where cell = '{name}'")
            assert there, kind
            assert sorted(tuple(row)[1:] for row in here) == sorted(map(tuple, there)), kind
    plan = home.column("explain select * from lf_fleet.all_schedules")
    assert sum("Async Foreign Scan" in line for line in plan) == 2  # both are asked at once
    rows = home.rows("select cell, user_id from lf_fleet.all_tenants order by cell")
    assert [(row.cell, row.user_id) for row in rows] == sorted(users.items())
    assert fleet.did("cells", "list").count("\n") == 3  # the directory is still taken for ours
    fleet.did("cells", "verify")


def test_columns_are_those_of_the_views(fleet: Fleet) -> None:
    query = (
        "select attname as name, "
        "replace(format_type(atttypid, null), 'timestamp with time zone', 'timestamptz') as type "
        "from pg_attribute where attrelid = %s::regclass and attnum > 0 order by attnum"
    )
    views = fleet.databases["a"].column(
        "select viewname from pg_views where schemaname = 'lenses' and viewname like 'cell\\_%%'"
    )
    assert sorted(views) == sorted(f"cell_{kind}" for kind in foreign.KINDS)
    for kind, columns in foreign.KINDS.items():
        rows = fleet.databases["a"].rows(query, [f"lenses.cell_{kind}"])
        assert [(row.name, row.type) for row in rows] == list(columns)


def test_cells_come_and_go(fleet: Fleet, home: Database) -> None:
    applied(fleet, home)
    mapped(home, "a", "b")
    home.execute("create view public.mine as select cell, tenants from lf_fleet.all_health")
    before = made(home)
    applied(fleet, home)
    assert made(home) == before
    fleet.add("new-one")
    applied(fleet, home)
    home.execute(
        "create user mapping for current_user server \"lf_cell_new-one\" options (user 'postgres')"
    )
    query = "select cell from public.mine order by cell"
    assert home.column(query) == ["a", "b", "new-one"]
    home.execute("delete from lf_fleet.cells where name in ('a', 'new-one')")
    applied(fleet, home)
    assert home.column(query) == ["b"]
    found = made(home)
    assert [row.srvname for row in found["servers"]] == ["lf_cell_b"]
    assert found["schemas"] == ["lf_cell_b"]
    assert found["servers"][0].mappings == 1
    home.execute("delete from lf_fleet.cells")
    applied(fleet, home)
    assert home.column(query) == []
    assert (made(home)["servers"], made(home)["schemas"]) == ([], [])


def test_a_cell_that_is_elsewhere_now(fleet: Fleet, home: Database) -> None:
    fleet.place("a")
    applied(fleet, home)
    mapped(home, "a")
    query = "select tenants from lf_cell_a.cell_health"
    assert home.value(query) == 1
    copy = fleet.state.fresh(installed=True)
    with connect(fleet.state.server.dsn(copy)) as conn:
        make_tenant(conn), make_tenant(conn)
    dsn = f"{fleet.state.server.dsn(copy)} sslmode=disable connect_timeout=4"
    home.execute("update lf_fleet.cells set conninfo = %s where name = 'a'", [dsn])
    applied(fleet, home)
    assert home.value(query) == 2
    options = made(home)["servers"][0].options
    assert "sslmode=disable" in options
    assert "connect_timeout=4" in options
    fleet.did("cells", "set", "a", "--dsn", fleet.databases["a"].dsn)
    applied(fleet, home)
    assert home.value(query) == 1
    assert "sslmode" not in made(home)["servers"][0].options


def test_a_reader_of_the_cells_is_no_superuser(fleet: Fleet, home: Database) -> None:
    """Whoever has the rights of service_role in the cells, and is let in here."""
    for name in ("a", "b"):
        fleet.place(name)
    applied(fleet, home)
    home.execute(f"create role {STRANGER} login in role service_role")
    try:
        for name in ("a", "b"):
            home.execute(
                f"create user mapping for {STRANGER} server lf_cell_{name} "
                f"options (user '{STRANGER}', password_required 'false')"
            )
            home.execute(f"grant usage on schema lf_cell_{name} to {STRANGER}")
            home.execute(f"grant select on all tables in schema lf_cell_{name} to {STRANGER}")
        home.execute(f"grant usage on schema lf_fleet to {STRANGER}")
        home.execute(f"grant select on lf_fleet.all_tenants to {STRANGER}")
        home.execute(f"set role {STRANGER}")
        assert sorted(home.column("select cell from lf_fleet.all_tenants")) == ["a", "b"]
        home.execute("reset role")
        assert home.value("select has_schema_privilege('public', 'lf_cell_a', 'usage')") is False
    finally:
        home.execute("reset role")
        home.execute(f"drop owned by {STRANGER} cascade; drop role {STRANGER}")


def test_a_cell_that_is_down_hides_no_other_schema(fleet: Fleet, home: Database) -> None:
    applied(fleet, home)
    mapped(home, "a", "b")
    with down(fleet, "b"):
        applied(fleet, home)
        assert home.value("select tenants from lf_cell_a.cell_health") == 0


def test_a_directory_in_the_database_of_a_cell(fleet: Fleet, home: Database) -> None:
    """As the manual has it: what belongs to the cell is as installed, before and after."""
    cell = fleet.databases["a"]
    env = {"LF_SQL_DIRECTORY": cell.dsn}
    for words in (("init",), ("add", "one", "--dsn", cell.dsn)):
        succeeded(lf_sql("cells", *words, env=env))
    done = psql(cell, succeeded(lf_sql("cells", "foreign-tables", env=env)))
    assert done.returncode == 0, done.stderr
    mapped(cell, "one")
    assert cell.column("select cell from lf_fleet.all_health") == ["one"]
    for words in (("cells", "verify"), ("verify",), ("install",), ("verify",)):
        succeeded(lf_sql(*words, "--dsn", cell.dsn, env=env))


def test_no_secret_is_in_it(fleet: Fleet, home: Database) -> None:
    dsn = (
        f"{fleet.databases['a'].dsn} password=s3cret sslpassword=s3cret passfile=/s3cret "
        "sslkey=/s3cret sslcert=/s3cret sslmode=prefer"
    )
    home.execute("update lf_fleet.cells set conninfo = %s where name = 'a'", [dsn])
    text = script(fleet)
    assert "s3cret" not in text
    assert "create user mapping" in text  # in a comment: it is left to people
    assert not [line for line in text.splitlines() if line.startswith("create user mapping")]
    done = fleet.lf("cells", "foreign-tables", "--json")
    assert json.loads(done.stdout) == {"script": text}
    assert made(home)["servers"] == []  # nothing was run


def test_names_and_values_are_quoted(fleet: Fleet, home: Database) -> None:
    long = "x" * 63
    odd = """o'dd "$end$ \\! touch /tmp/x :cell"""
    home.execute(
        "insert into lf_fleet.cells (name, conninfo) values (%s, %s), (%s, %s)",
        [
            long, "host=/h user=u dbname=d",
            "select", foreign.conninfo.make_conninfo(host="h", dbname=odd),
        ],
    )  # fmt: skip
    applied(fleet, home)
    number = home.value("select id from lf_fleet.cells where name = %s", [long])
    name = foreign.place(Cell(number, long, "", True, None))
    assert len(name) == 63
    assert {row.srvname for row in made(home)["servers"]} == {
        "lf_cell_a", "lf_cell_b", "lf_cell_select", name
    }  # fmt: skip
    stored = home.value(
        "select option_value from pg_foreign_server, pg_options_to_table(srvoptions) "
        "where srvname = 'lf_cell_select' and option_name = 'dbname'"
    )
    assert stored == odd


@pytest.mark.parametrize(
    ("conninfo", "says"),
    [
        ("service=prod", "'prod'"),
        ("host=h", "no database"),
        ("dbname=d", "no host"),
    ],
)
def test_an_address_that_another_server_cannot_use(
    fleet: Fleet, home: Database, conninfo: str, says: str
) -> None:
    home.execute("update lf_fleet.cells set conninfo = %s where name = 'b'", [conninfo])
    refused(fleet.lf("cells", "foreign-tables"), "cell b", says, "cells set b --dsn")


def test_one_cell_alone_is_wrong_usage(fleet: Fleet) -> None:
    done = fleet.lf("cells", "foreign-tables", "--cell", "a")
    assert done.returncode == 2
    assert "give no --cell" in done.stderr


def test_a_server_without_the_extension_says_so(fleet: Fleet, home: Database) -> None:
    done = psql(home, script(fleet).replace("'postgres_fdw'", "'postgres_fdw_that_is_not_there'"))
    assert done.returncode == 3
    assert "this server has no extension postgres_fdw" in done.stderr
    assert "contrib" in done.stderr
    assert made(home)["schemas"] == []


def test_another_database_is_refused(fleet: Fleet, home: Database) -> None:
    text = script(fleet)
    done = psql(fleet.databases["a"], text)
    assert done.returncode == 3
    assert "does not hold the directory" in done.stderr
    home.execute("update lf_fleet.directories set id = gen_random_uuid()")
    assert "does not hold the directory" in psql(home, text).stderr
    assert made(home)["schemas"] == []


@pytest.mark.parametrize(
    ("planted", "says"),
    [
        ("create schema lf_cell_a", "schema lf_cell_a is there already"),
        ("create schema lf_cell_a authorization {0}", "schema lf_cell_a belongs to {0}"),
        (
            "create extension postgres_fdw; create server lf_cell_a foreign data wrapper "
            "postgres_fdw; grant usage on foreign data wrapper postgres_fdw to {0}; "
            "alter server lf_cell_a owner to {0}",
            "server lf_cell_a belongs to {0}",
        ),
        (
            "create view lf_fleet.all_runs as select 1; alter view lf_fleet.all_runs owner to {0}",
            "relation lf_fleet.all_runs belongs to {0}",
        ),
        ("create table lf_fleet.all_runs ()", "relation lf_fleet.all_runs is there already"),
    ],
)
def test_what_is_not_ours_is_refused(fleet: Fleet, home: Database, planted: str, says: str) -> None:
    text = script(fleet)
    home.execute(f"create role {STRANGER}; grant usage on schema lf_fleet to {STRANGER}")
    try:
        home.execute(f"grant create on schema lf_fleet to {STRANGER}")
        home.execute(planted.format(STRANGER))
        done = psql(home, text)
        assert done.returncode == 3
        assert says.format(STRANGER) in done.stderr
        assert "lf_cell_b" not in made(home)["schemas"]
    finally:
        home.execute(f"drop owned by {STRANGER} cascade; drop role {STRANGER}")


def test_what_people_built_on_a_cell_that_goes_stops_the_script(
    fleet: Fleet, home: Database
) -> None:
    applied(fleet, home)
    home.execute("create view public.mine as select * from lf_cell_a.cell_runs")
    home.execute("create schema lf_cell_of_mine")
    home.execute("delete from lf_fleet.cells where name = 'a'")
    before = made(home)
    done = psql(home, script(fleet))
    assert done.returncode == 3
    assert "view public.mine depends on foreign table lf_cell_a.cell_runs" in done.stderr
    assert made(home) == before
    home.execute("drop view public.mine")
    applied(fleet, home)
    assert sorted(made(home)["schemas"]) == ["lf_cell_b", "lf_cell_of_mine"]


@pytest.mark.parametrize(
    "planted",
    [
        "create view lf_fleet.other as select 1 as one",
        "create materialized view lf_fleet.all_runs as select 1 as one",
    ],
)
def test_other_views_in_the_directory_are_still_refused(
    fleet: Fleet, home: Database, planted: str
) -> None:
    home.execute(planted)
    done = fleet.lf("cells", "list")
    assert done.returncode != 0
    assert "stands where lf-sql has none" in done.stderr


def test_a_strangers_view_is_refused_by_name_too(fleet: Fleet, home: Database) -> None:
    home.execute(f"create role {STRANGER}; grant create, usage on schema lf_fleet to {STRANGER}")
    try:
        home.execute("create view lf_fleet.all_runs as select 1 as one")
        assert fleet.lf("cells", "list").returncode == 0
        home.execute(f"alter view lf_fleet.all_runs owner to {STRANGER}")
        assert f"belongs to {STRANGER}" in fleet.lf("cells", "list").stderr
    finally:
        home.execute(f"drop owned by {STRANGER} cascade; drop role {STRANGER}")
