"""An option with nothing in it, as of a variable that is not set, is never as if it were left out."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from lf_sql import environment
from lf_sql.errors import LfSqlError
from tests.support.command import Command
from tests.support.database import Database, Tenant
from tests.support.work import make_schedule, make_workflow, run_now

FILLED = [
    (["runs", "list"], "--as"),
    (["runs", "list"], "--dsn"),
    (["runs", "list"], "--cell"),
    (["uninstall", "--yes"], "--dsn"),
    (["uninstall", "--yes"], "--cron-dsn"),
    (["status"], "--cron-dsn"),
    (["cells", "list"], "--directory"),
    (["cells", "split", "a", "--to", "b"], "--standby"),
    (["export"], "--supabase"),
    (["apply"], "FILE..."),
    (["diff"], "FILE..."),
    (["schedule", "calendar", "import"], "[FILE]"),
    (["schedule", "calendar", "create", "c"], "--dates"),
    (["schedule", "calendar", "update", "c"], "--add"),
    (["console"], "--host"),
    (["console"], "--allow-host"),
    (["runs", "work", "--once"], "--sql"),
    (["runs", "deliver", "--once", "--unsigned", "--url", "http://localhost:1"], "--workflow"),
    (["delivery", "set", "d", "--url", "http://localhost:1"], "--secret-name"),
    (["import", "pg-cron"], "--project"),
    (["schedule", "calendar", "import", "--country", "US"], "--subdivision"),
    (["schedule", "calendar", "import", "--country", "US"], "--language"),
    (["schedule", "calendar", "import", "--country", "US"], "--name"),
]


@pytest.fixture
def others(db: Database, tenant: Callable[..., Tenant]) -> list[str]:
    """Runs that wait, of two tenants; one's schedule has an empty description."""
    runs = []
    for _ in range(2):
        one = tenant()
        schedule = make_schedule(db, make_workflow(db, one))
        db.execute(
            "update lenses.workflow_schedules set description = '' where id = %s", [schedule]
        )
        runs.append(run_now(db, one, schedule))
    return runs


@pytest.mark.parametrize("command", ["cancel", "approve", "reject"])
@pytest.mark.parametrize("word", ["schedule", "workflow"])
def test_an_empty_filter_finds_nothing(
    lf: Command, db: Database, others: list[str], command: str, word: str
) -> None:
    before = db.value("select array_agg(r.status order by r.id) from lenses.workflow_runs as r")
    for empty in ("", " "):
        said = lf("runs", command, f"--{word}", empty, "--yes", code=1)
        assert f"there is no {word} {empty!r}" in said.err
        assert f"there is no {word} {empty!r}" in lf("runs", "list", f"--{word}", empty, code=1).err
    after = db.value("select array_agg(r.status order by r.id) from lenses.workflow_runs as r")
    assert before == after


@pytest.mark.parametrize("word", ["calendar", "agent", "team"])
def test_a_schedule_is_not_made_without_what_it_names(
    lf: Command, workflow: str, db: Database, word: str
) -> None:
    made = ("schedule", "create", workflow, "--every", "6h", f"--{word}", "")
    assert f"there is no {word} ''" in lf(*made, code=1).err
    assert db.value("select count(*) from lenses.workflow_schedules") == 0


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["schedule", "list", "--workflow", ""], "there is no workflow ''"),
        (["schedule", "lint", ""], "there is no schedule ''"),
        (["schedule", "calendar", "list", "--dates", ""], "there is no calendar ''"),
        (["schedule", "calendar", "create", "c", "--clone", ""], "there is no calendar ''"),
        (["schedule", "calendar", "import", "--country", "US", "--years", ""], "'' are no years"),
    ],
    ids=" ".join,
)
def test_an_empty_name_is_looked_up(lf: Command, workflow: str, args: list[str], said: str) -> None:
    assert said in lf(*args, code=1).err


def test_an_empty_url_is_none(lf: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    args = (
        "runs",
        "deliver",
        "--once",
        "--unsigned",
        "--route",
        "W=http://localhost:1",
        "--url",
        "",
    )
    assert "an http or https URL is wanted, not ''" in lf(*args, code=2).err


@pytest.mark.parametrize("empty", ["", " \t"], ids=["empty", "blank"])
@pytest.mark.parametrize(
    ("args", "option"), FILLED, ids=lambda x: x if isinstance(x, str) else x[0]
)
def test_what_says_where_or_as_whom_is_not_empty(
    lf: Command,
    owner: Tenant,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    args: list[str],
    option: str,
    empty: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    named = [option] if option.startswith("--") else []
    said = lf(*args, *named, empty, code=2)
    assert option in said.err
    left_out = "" if option == "--standby" else ", or leave it out"  # which is required
    assert f"it is empty: give a value{left_out}\n" in said.err
    assert said.out == ""
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("empty", ["", " \t"], ids=["empty", "blank"])
def test_what_a_command_cannot_do_without_is_not_empty(
    lf: Command, owner: Tenant, db: Database, empty: str
) -> None:
    assert "it has 1 to 500 characters, not none" in lf("workflow", "create", empty, code=2).err
    said = lf("freeze", empty, code=2).err
    assert "REASON" in said and "it is empty: give a value" in said and "leave it out" not in said
    route = ("runs", "deliver", "--once", "--unsigned", "--route", f"{empty}=http://localhost:1")
    assert "TITLE=URL is wanted" in lf(*route, code=2).err
    assert db.value("select count(*) from lenses.workflows") == 0
    assert not db.value("select is_frozen from lenses.dispatch_settings")


def test_a_title_has_a_length(lf: Command, owner: Tenant) -> None:
    lf("workflow", "create", "x" * 500)
    assert "1 to 500 characters, not 501" in lf("workflow", "create", "x" * 501, code=2).err


def test_the_option_may_stand_first(lf: Command, owner: Tenant) -> None:
    for option in ("--as", "--dsn", "--cell"):
        assert "it is empty" in lf(option, "", "runs", "list", code=2).err


def test_a_variable_that_is_empty_is_not_set(
    lf: Command, owner: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LF_SQL_CRON_DSN", "")
    monkeypatch.setenv("LF_SQL_DIRECTORY", "")
    lf("runs", "list")
    lf("verify")
    assert "say where the directory is" in lf("cells", "list", code=2).err


@pytest.mark.parametrize("name", ["LF_SQL_DSN", "DATABASE_URL", "LF_SQL_DIRECTORY"])
def test_a_variable_of_blanks_leads_nowhere(
    lf: Command, owner: Tenant, db: Database, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv("DATABASE_URL", db.dsn)
    if name == "DATABASE_URL":
        monkeypatch.delenv("LF_SQL_DSN")
    monkeypatch.setenv(name, " \t")
    of_a_tenant = ("--as", str(owner.user_id))
    said = lf("runs", "list", *of_a_tenant, code=2)
    assert f"{name} has blanks alone" in said.err
    assert "give it a value, or unset it" in said.err
    lf("runs", "list", *of_a_tenant, "--dsn", db.dsn)


def test_a_connection_for_commands_is_not_blank() -> None:
    with pytest.raises(LfSqlError, match="LF_SQL_COMMAND_DSN has blanks alone"):
        environment.for_command("dbname=x", {"LF_SQL_COMMAND_DSN": " "})
    assert "DATABASE_URL" not in environment.for_command("dbname=x", {"LF_SQL_COMMAND_DSN": ""})
