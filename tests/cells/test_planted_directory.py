"""A stranger's schema in the directory's place is refused before anything of it is read."""

from __future__ import annotations

import pytest

from tests.cells.fleet import Fleet
from tests.support.cli import lf_sql
from tests.support.database import connect

STRANGER = "lf_test_directory_stranger"
WHOLE = f"""
create schema lf_fleet authorization {STRANGER};
set role {STRANGER};
create function lf_fleet.f() returns integer language plpgsql as
  $$ begin raise exception 'planted code runs as %', session_user; end $$;
create view lf_fleet.directories as select gen_random_uuid() as id, lf_fleet.f() as format;
create view lf_fleet.cells as
  select 1 as id, 'a' as name, 'host=/elsewhere' as conninfo, true as is_open, 'x' as version;
reset role;
"""
# The schema is the superuser's, who lets the stranger make things there.
PART = f"""
create schema lf_fleet;
grant create, usage on schema lf_fleet to {STRANGER};
set role {STRANGER};
create function lf_fleet.f() returns integer language plpgsql as
  $$ begin raise exception 'planted code runs as %', session_user; end $$;
create view lf_fleet.directories as select gen_random_uuid() as id, lf_fleet.f() as format;
reset role;
"""


@pytest.mark.parametrize("planted", [WHOLE, PART], ids=["schema", "view"])
@pytest.mark.parametrize("command", [("cells", "list"), ("cells", "init"), ("tenant", "list")])
def test_a_planted_directory_is_refused(
    fleet: Fleet, planted: str, command: tuple[str, ...]
) -> None:
    name = fleet.state.fresh(installed=False)
    dsn = fleet.state.server.dsn(name)
    with connect(dsn) as admin:
        admin.execute(f"create role {STRANGER}")
        try:
            admin.execute(planted)
            more = ("--cell", "a") if command[0] == "tenant" else ()
            done = lf_sql(*command, *more, env={"LF_SQL_DIRECTORY": dsn})
            assert done.returncode != 0
            assert f"belongs to {STRANGER}" in done.stderr, done.stderr
            assert "planted" not in done.stderr
            assert "/elsewhere" not in done.stderr
        finally:
            admin.execute(f"drop owned by {STRANGER} cascade; drop role {STRANGER}")
    fleet.state.drop(name)
