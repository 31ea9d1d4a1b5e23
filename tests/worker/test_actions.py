"""lf-sql runs work --shell and --sql: what imported jobs ran goes on running."""

from __future__ import annotations

import getpass
import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from lf_sql import actions
from tests.support.cli import Run, lf_sql
from tests.support.cli import process as whole
from tests.support.database import Database, Tenant
from tests.support.work import make_schedule, run_now


class Place:
    """A tenant; `run(node)` lets an executor run it once."""

    def __init__(self, db: Database, owner: Tenant, role: str) -> None:
        self.db, self.owner, self.role = db, owner, role

    @property
    def sql(self) -> str:
        return f"{self.db.dsn} user={self.role}"

    def run(self, *nodes: dict[str, Any], options: tuple[str, ...], retry: str = "{}") -> Any:
        """The run's row once it has ended, and what the executor said."""
        definition = {
            "nodes": [{"id": f"n{n}", **node} for n, node in enumerate(nodes)],
            "edges": [],
        }
        workflow = self.db.value(
            "insert into lenses.workflows (lenser_id, title, definition) values (%s, 'w', %s) returning id",
            [self.owner.id, json.dumps(definition)],
        )
        policy = json.dumps({"maxRetries": 0, **json.loads(retry)})
        schedule = make_schedule(self.db, workflow, retry_policy=policy)
        run = run_now(self.db, self.owner, schedule)
        said = whole("runs", "work", "--once", *options, dsn=self.db.dsn)
        row = self.db.row(
            "select status, metadata -> 'result' as result from lenses.workflow_runs where id = %s",
            [run],
        )
        return row, said


@pytest.fixture
def place(db: Database, tenant: Callable[..., Tenant]) -> Iterator[Place]:
    role = f"jobs_{db.dbname}"
    db.execute(
        f"create role {role} login; create schema jobs authorization {role}; alter role {role} set search_path = jobs"
    )
    yield Place(db, tenant(), role)
    db.execute(f"drop schema jobs cascade; drop role {role}")


def shell(command: str, **more: Any) -> dict[str, Any]:
    return {"action": "shell", "command": command, **more}


def sql(text: str, **more: Any) -> dict[str, Any]:
    return {"action": "sql", "sql": text, **more}


@pytest.mark.parametrize(
    ("node", "output"),
    [
        (shell("echo hi; echo there >&2"), "hi\n"),
        (shell("cat", stdin="a\nb\n"), "a\nb\n"),
        (shell("echo $GREETING $0", env={"GREETING": "hello"}, shell="/bin/bash"), "hello /bin/bash\n"),
        (shell("id -un", user=getpass.getuser()), f"{getpass.getuser()}\n"),
        (shell("cat >/dev/null; printf '\\0x'"), "x"),
    ],
)  # fmt: skip
def test_output_is_the_result(place: Place, node: dict[str, Any], output: str) -> None:
    row, said = place.run(node, options=("--shell",))
    assert row.status == "completed", said.stderr
    assert row.result == {"exit_code": 0, "output": output}


@pytest.mark.parametrize(
    ("nodes", "error"),
    [
        ([shell("echo why >&2; exit 3")], "exit code 3: why"),
        ([shell("true", user="somebody-else")], "the command is somebody-else's"),
        ([shell("true", shell="/no/such")], "/no/such"),
        ([shell(" ")], "the node has no command"),
        ([shell("true"), shell("true")], "definitions of one node (shell), not of 2"),
        ([sql("select 1")], 'runs the action shell, not "sql"'),
    ],
)
def test_what_fails_says_why(place: Place, nodes: list[dict[str, Any]], error: str) -> None:
    row, _ = place.run(*nodes, options=("--shell",))
    assert row.status == "failed"
    assert error in row.result["error"]


def test_much_output_is_cut(place: Place) -> None:
    row, _ = place.run(shell("yes | head -c 300000; echo end"), options=("--shell",))
    assert row.result["is_cut"] and row.result["output"].endswith("end\n")
    assert len(row.result["output"]) == 65536


def test_row_counts_and_rows_are_the_result(place: Place) -> None:
    text = "create table t (a int); insert into t select generate_series(1, 3); select a, session_user::text as who from t order by a"
    row, said = place.run(sql(text), options=("--sql", place.sql))
    assert row.status == "completed", (row.result, said.stderr)
    assert row.result == {
        "statements": ["CREATE TABLE", "INSERT 0 3", "SELECT 3"],
        "row_count": 3,
        "rows": [{"a": n, "who": place.role} for n in (1, 2, 3)],
    }
    row, _ = place.run(sql("update t set a = 9 where a > 1"), options=("--sql", place.sql))
    assert row.result == {"statements": ["UPDATE 2"], "row_count": 2, "rows": []}


def test_what_fails_leaves_nothing(place: Place) -> None:
    row, _ = place.run(sql("create table gone (a int); select 1 / 0"), options=("--sql", place.sql))
    assert row.status == "failed" and "division by zero" in row.result["error"]
    assert place.db.value("select to_regclass('jobs.gone')") is None


def test_a_statement_ends_with_its_timeout(place: Place) -> None:
    text = "select set_config('jobs.limit', current_setting('statement_timeout'), false) as limit"
    row, _ = place.run(sql(text), options=("--sql", place.sql), retry='{"timeoutMs": 54321}')
    assert row.result["rows"] == [{"limit": "54321ms"}]


def test_for_another_database(place: Place) -> None:
    row, _ = place.run(sql("select 1", database="elsewhere"), options=("--sql", place.sql))
    assert (
        f"the statement is for elsewhere, and --sql leads to {place.db.dbname}"
        in row.result["error"]
    )


def test_never_as_one_who_may_do_everything(place: Place) -> None:
    said: Run = lf_sql("runs", "work", "--once", "--sql", place.db.dsn, dsn=place.db.dsn)
    assert said.returncode == 1 and "may do more than a tenant's SQL should" in said.stderr
    place.db.execute(f"grant lf_sql_owner to {place.role}")
    said = lf_sql("runs", "work", "--once", "--sql", place.sql, dsn=place.db.dsn)
    assert said.returncode == 1 and "may do more than a tenant's SQL should" in said.stderr
    place.db.execute(f"revoke lf_sql_owner from {place.role}")


POWERS = {
    "grant authenticated to {role}": "revoke authenticated from {role}",
    "grant anon to {role}": "revoke anon from {role}",
    "grant pg_read_all_data to {role}": "revoke pg_read_all_data from {role}",
    "create role {role}_2; grant pg_execute_server_program to {role}_2; grant {role}_2 to {role}": "drop role {role}_2",
    "create role {role}_3 bypassrls; grant {role}_3 to {role}": "drop role {role}_3",
    "alter database {database} owner to {role}": "alter database {database} owner to postgres",
    **{f"alter role {{role}} {word}": f"alter role {{role}} no{word}" for word in
       ("createrole", "createdb", "bypassrls", "replication")},
}  # fmt: skip


def test_nor_as_one_with_any_of_the_powers(place: Place) -> None:
    names = {"role": place.role, "database": place.db.dbname}
    actions.connect(place.sql).close()
    for give, take in POWERS.items():
        place.db.execute(give.format(**names))
        with pytest.raises(actions.Unfit, match="may do more"):
            actions.connect(place.sql)
        place.db.execute(take.format(**names))
    actions.connect(place.sql).close()


def test_a_shell_does_not_see_the_connection_of_the_sql(place: Place) -> None:
    row, _ = place.run(shell("echo ${DATABASE_URL-none}"), options=("--shell", "--sql", place.sql))
    assert row.result["output"] == "none\n"


@pytest.mark.parametrize(
    "arguments", [(), ("--shell", "--", "true"), ("--sql", "dbname=x", "--", "true")]
)
def test_one_of_command_and_actions(place: Place, arguments: tuple[str, ...]) -> None:
    said = lf_sql("runs", "work", "--once", *arguments, dsn=place.db.dsn)
    assert said.returncode == 2 and "COMMAND after --, or --shell" in said.stderr
