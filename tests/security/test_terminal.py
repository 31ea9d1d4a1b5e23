"""A tenant's text reaches no terminal that could obey it, and breaks no line of a pipe, by any command."""

from __future__ import annotations

import contextlib
import os
import re
import sys
import termios
import threading
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import click
import pytest
from psycopg.types.json import Jsonb

from lf_sql.cli import cli, run
from lf_sql.cli.progress import ERASE
from lf_sql.plain import dumps, plain, plain_lines
from tests.support.cli import lf_sql
from tests.support.database import Database, as_user, connect, make_tenant
from tests.support.state import State

EVIL = "x\x1b[2J\x07\x9b31mred\u202eevil\u2066in\u061c\u200f\u2028\u2029\x85\x7f\b\r\nsecond\tcell"
EVIL_LINE = re.sub(
    "[\x00-\x1f\x7f-\x9f\u2028\u2029]", "", EVIL
)  # of a calendar: its name is one line
UNSAFE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]|second\t|^second",
    re.MULTILINE,
)
OURS = re.compile(rf"{re.escape(ERASE)}|\x1b\[[0-9;]*m|\x1b\[\?25[lh]|\x1b\[K|\r")
"""Colours and the progress bar's, on a terminal: none is among the hostile ones."""

# They install, serve, wait or ask: their lines go through the same functions, by tests of their own.
NOT_HERE = {
    "console", "demo", "export", "install", "runs deliver", "runs work", "uninstall", "upgrade",
    "worker",
}  # fmt: skip


def walk(command: click.Command, path: str = "") -> Iterator[tuple[str, click.Command]]:
    if not isinstance(command, click.Group):
        yield path, command
        return
    context = click.Context(command)
    for name in command.list_commands(context):
        child = command.get_command(context, name)
        assert child
        yield from walk(child, f"{path} {name}".strip())


COMMANDS = {
    path: command
    for path, command in walk(cli)
    if path not in NOT_HERE and path.split()[0] not in NOT_HERE
}
READS_FIRST = sorted(
    COMMANDS,
    key=lambda path: (
        path.split()[-1] not in ("list", "show", "history", "preview", "explain", "health", "lint"),
        path.split()[-1] in ("delete", "remove", "cancel", "reject"),
        path,
    ),
)


@dataclass(frozen=True)
class Estate:
    dsn: str
    user: str
    ids: dict[str, str]

    def arguments(self, path: str, command: click.Command, text: str | None) -> list[str]:
        """What it needs: ids of the tenant's own rows, or hostile text in their place."""
        found: list[str] = []
        for param in command.params:
            if isinstance(param, click.Argument) and (param.required or param.nargs == -1):
                name = str(param.name).rstrip("s")
                found.append(text or self.ids.get(name, EVIL))
            elif isinstance(param, click.Option) and param.required:
                found += [param.opts[0], text or EVIL]
        if any("--force" in param.opts for param in command.params):
            found.append("--force")
        if any("--yes" in param.opts for param in command.params):
            found.append("--yes")
        return [*path.split(), *found]


@pytest.fixture(scope="module")
def estate(state: State) -> Iterator[Estate]:
    name = state.fresh(installed=True)
    with connect(state.server.dsn(name)) as conn:
        yield hostile(conn)
    state.drop(name)


def hostile(conn: Database) -> Estate:
    tenant = make_tenant(conn, EVIL)
    conn.execute("update lensers.profiles set display_name = %s", [EVIL])

    def made(table: str, **columns: Any) -> str:
        names, marks = ", ".join(columns), ", ".join(["%s"] * len(columns))
        values = [Jsonb(v) if isinstance(v, dict) else v for v in columns.values()]
        return str(
            conn.value(f"insert into {table} ({names}) values ({marks}) returning id", values)
        )

    ids = {"agent": made("agents.ai_lensers", lenser_id=tenant.id, name=EVIL)}
    ids["team"] = made("agents.teams", lenser_id=tenant.id, name=EVIL)
    definition = {"nodes": [{"id": EVIL, "action": EVIL}], "edges": []}
    ids["workflow"] = made(
        "lenses.workflows", lenser_id=tenant.id, title=EVIL, definition=definition
    )
    ids["calendar"] = made(
        "lenses.schedule_calendars", lenser_id=tenant.id, name=EVIL_LINE, kind="skip_dates",
        timezone="UTC", dates=["2030-01-01"],
    )  # fmt: skip
    common = {
        "workflow_id": ids["workflow"], "cron_expr": "* * * * *", "description": EVIL,
        "global_model_id": EVIL, "inputs_template": {EVIL: EVIL}, "calendar_id": ids["calendar"],
        "assignee_id": ids["agent"], "approval_policy": {"requiresApproval": False},
        "start_at": "2020-01-01Z",
    }  # fmt: skip
    ids["schedule"] = made("lenses.workflow_schedules", **common)
    paused = made("lenses.workflow_schedules", **common)
    with as_user(conn, tenant):
        conn.execute("select public.fn_pause_workflow_schedule(%s, %s)", [paused, EVIL])
        conn.execute("select public.fn_run_workflow_schedule_now(%s)", [ids["schedule"]])
    for answer in ("complete", "fail"):
        run_id = conn.value("select id from lenses.fn_claim_workflow_runs(%s)", [EVIL])
        if answer == "complete":
            result = Jsonb({EVIL: EVIL})
            conn.execute(
                "select lenses.fn_append_run_event(%s, %s, %s, %s)", [run_id, EVIL, "note", result]
            )
            conn.execute(
                "select lenses.fn_complete_workflow_run(%s, %s, %s)", [run_id, EVIL, result]
            )
            with as_user(conn, tenant):
                conn.execute("select public.fn_run_workflow_schedule_now(%s)", [ids["schedule"]])
        else:
            conn.execute(
                "select lenses.fn_fail_workflow_run(%s, %s, %s, %s)",
                [run_id, EVIL, "provider_error", EVIL],
            )
    conn.execute(
        "update lenses.workflow_schedules set last_error_at = now(), last_error_message = %s, "
        "last_dispatch_status = 'validation_failed', dispatch_seq = dispatch_seq + 1",
        [EVIL],
    )
    ids["run"] = str(conn.value("select id from lenses.workflow_runs order by created_at limit 1"))
    ids["gateway"] = made(
        "agents.gateways", lenser_id=tenant.id, name=EVIL_LINE, endpoint="https://x"
    )
    ids["cron"] = made(
        "agents.gateway_crons", lenser_id=tenant.id, gateway_id=ids["gateway"],
        operation="health_probe", cron_expr="0 * * * *", payload={EVIL: EVIL},
    )  # fmt: skip
    conn.execute("select lenses.fn_freeze_dispatch(%s)", [EVIL])
    return Estate(conn.dsn, str(tenant.user_id), {**ids, "id": ids["schedule"], "key": "x"})


def on_a_terminal(*arguments: str, dsn: str) -> str:
    """What it writes to a terminal of 100 columns, as the terminal gets it."""
    ours, theirs = os.openpty()
    settings = termios.tcgetattr(theirs)
    settings[1] &= ~termios.OPOST
    termios.tcsetattr(theirs, termios.TCSANOW, settings)
    chunks: list[bytes] = []

    def read() -> None:
        with contextlib.suppress(OSError):  # the other end is closed
            while chunk := os.read(ours, 65536):
                chunks.append(chunk)

    reader = threading.Thread(target=read)
    reader.start()
    with (
        os.fdopen(theirs, "w", encoding="utf-8") as screen,
        Path(os.devnull).open() as nothing,
        contextlib.redirect_stdout(screen),
        contextlib.redirect_stderr(screen),
        mock.patch.object(sys, "stdin", nothing),
        mock.patch.dict(os.environ, {"LF_SQL_DSN": dsn, "COLUMNS": "100", "TERM": "xterm"}),
    ):
        run(list(arguments))
    reader.join()
    os.close(ours)
    return b"".join(chunks).decode()


def test_the_texts_are_there(db: Database) -> None:
    """So that the test below looks at something; and a row stays a line."""
    estate = hostile(db)
    listed = lf_sql("schedule", "list", dsn=estate.dsn).stdout
    assert "\\x1b[2J" in listed
    assert len(listed.splitlines()) == 3
    assert "\\x1b[2J" in on_a_terminal("runs", "show", estate.ids["run"], dsn=estate.dsn)


@pytest.mark.parametrize("path", READS_FIRST)
def test_no_command_lets_it_through(path: str, estate: Estate) -> None:
    command = COMMANDS[path]
    rows, text = (estate.arguments(path, command, words) for words in (None, EVIL))
    acting = [*rows, "--as", estate.user]
    for arguments in (rows, acting, text):
        screen = OURS.sub("", on_a_terminal(*arguments, dsn=estate.dsn))
        assert not UNSAFE.search(screen), repr(screen)
    for arguments in (rows, text):
        piped = lf_sql(*arguments, dsn=estate.dsn)
        assert not UNSAFE.search(piped.stdout + piped.stderr), piped
    asked = lf_sql(*rows, "--json", dsn=estate.dsn)
    assert not UNSAFE.search(asked.stdout + asked.stderr), asked


@pytest.mark.parametrize("path", ["console", "worker", "runs work"])
def test_what_is_said_while_it_runs(path: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Their lines go by `note` and `say`; the progress bar's by its own `say`."""
    from lf_sql.cli.context import note
    from lf_sql.cli.worker import say

    {"console": note}.get(path, say)(f"acting as {EVIL}")
    said = capsys.readouterr().err
    assert not UNSAFE.search(said)
    assert len(said.splitlines()) == 1


def test_one_function() -> None:
    assert plain("a\tb\r\nc\x1b\x9b\u202e\ud800") == "a\\tb\\r\\nc\\x1b\\x9b\\u202e\\ud800"
    assert plain_lines("a\nb\x1b") == "a\nb\\x1b"
    assert plain("Grüße, שלום, 日本 👩‍🚀") == "Grüße, שלום, 日本 👩‍🚀"
    assert dumps({"a": "\x7f\x1b\u2028"}) == '{\n  "a": "\\u007f\\u001b\\u2028"\n}'
    assert plain(uuid.UUID(int=0)) == str(uuid.UUID(int=0))
