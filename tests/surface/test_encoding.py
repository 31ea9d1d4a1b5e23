"""A client's encoding is never chosen by the variables or the DSN of who runs a command."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from lf_sql import actions
from tests.support.command import Command
from tests.support.database import Database, Tenant
from tests.support.work import run_now

OTHERS = ["LATIN1", "SQL_ASCII", "EUC_JP"]
SMILE = "\N{GRINNING FACE}"
File = Callable[..., str]


@pytest.fixture(params=OTHERS)
def encoded(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Another encoding, in the variable that libpq reads."""
    encoding: str = request.param
    monkeypatch.setenv("PGCLIENTENCODING", encoding)
    return encoding


FILE = f"""
project: shop
workflows:
  {SMILE} report:
    schedules:
      morning:
        every: 6h
        description: "\\ufeff marked"
        approval: {{requiresApproval: false}}
        inputs: {{say: "{SMILE}"}}
"""


def test_what_one_tenant_writes_stops_no_command(
    lf: Command, owner: Tenant, file: File, encoded: str
) -> None:
    name = f"{SMILE} report"
    made = file(FILE)
    lf("diff", made, code=1)
    lf("apply", made)
    assert lf("workflow", "list").rows[0]["title"] == name
    assert lf("export", "--yaml", "--json").json["workflows"][name]
    assert "nothing differs" in lf("diff", made).err


@pytest.mark.parametrize(
    "more", ["client_encoding={}", "options='-c client_encoding={}'"], ids=["itself", "options"]
)
@pytest.mark.parametrize("encoding", OTHERS)
def test_nor_does_the_dsn(
    lf: Command, db: Database, owner: Tenant, more: str, encoding: str
) -> None:
    lf("workflow", "create", SMILE)
    dsn = f"{db.dsn} {more.format(encoding)}"
    assert lf("--dsn", dsn, "workflow", "list").rows[0]["title"] == SMILE


def test_an_executor_takes_any_input(
    lf: Command, db: Database, owner: Tenant, file: File, encoded: str
) -> None:
    lf("apply", file(FILE))
    run = run_now(db, owner, db.value("select id from lenses.workflow_schedules"))
    lf("runs", "work", "--once", "--", "cat")
    assert lf("runs", "show", run, "--json").json["status"] == "completed"


def test_a_node_of_sql_has_any_character(db: Database, encoded: str) -> None:
    role = f"jobs_{db.dbname}"
    db.execute(f"create role {role} login")
    node: dict[str, Any] = {"action": "sql", "sql": f"select '{SMILE}' as said"}
    told = actions.sql(node, f"{db.dsn} user={role}", None)
    db.execute(f"drop role {role}")
    assert SMILE in json.dumps(told, ensure_ascii=False)
