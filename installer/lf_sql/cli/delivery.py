"""lf-sql delivery: where the database itself posts runs and events, and who claims events."""

from __future__ import annotations

import json
import os
import time
from typing import Any

import click

from lf_sql.cli.context import emit, emit_one, note, options
from lf_sql.cli.lazy import SuggestingGroup
from lf_sql.cli.params import Duration, Filled
from lf_sql.cli.session import find, installed, one
from lf_sql.cli.terminal.ask import ask, yes_option
from lf_sql.db import Connection
from lf_sql.environment import WEBHOOK_SECRET

NONE = "none"
LIST = "select d.* from lenses.fn_get_deliveries() as d where %s::text is null or d.name = %s::text"
BRIEF = ["name", "url", "sends", "is_active", "secret", "waiting", "dead", "failed", "problem"]
SENDS = [
    "runs", "run.failed", "run.timed_out", "schedule.missed", "schedule.halted", "approval.waiting",
    "schedule.dispatch_failed",
]  # fmt: skip
LOOK = 0.5  # seconds between two looks at a test


@click.command("list", epilog="\b\nExample:\n  lf-sql delivery list --json")
def list_() -> None:
    """Every delivery: its address, what goes there, how it goes.

    Of secrets and headers nothing is shown but whether they are there.
    """
    with installed() as conn:
        rows = _rows(conn)
    emit(
        rows if options().as_json else [{name: row[name] for name in BRIEF} for row in rows],
        empty="no deliveries: lf-sql delivery set NAME --url URL",
    )


@click.command(
    "set",
    epilog="\b\nExamples:\n"
    "  lf-sql delivery set default --url https://jobs.example.org/run\n"
    "  LF_SQL_WEBHOOK_SECRET=whsec_... lf-sql delivery set default --store-secret\n"
    "  lf-sql delivery set chat --send run.failed --send run.timed_out\n"
    "  lf-sql delivery set default --inactive",
)
@click.argument("name")
@click.option("--url", help="Where it is posted to by pg_net; none: a consumer claims the events.")
@click.option(
    "--send",
    "sends",
    multiple=True,
    type=click.Choice(SENDS),
    metavar="WHAT",
    help=f"What goes there: {', '.join(SENDS)}. May be repeated.",
)
@click.option("--workflow", help="Of this workflow alone; none: of all.")
@click.option(
    "--header",
    "headers",
    metavar="NAME: VALUE",
    multiple=True,
    help="A header of each request; replaces all earlier ones. none: no headers. May be repeated.",
)
@click.option(
    "--secret-name", type=Filled(), help="The secret that signs; none: nothing is signed."
)
@click.option("--store-secret", is_flag=True, help="Store LF_SQL_WEBHOOK_SECRET as this secret.")
@click.option("--active/--inactive", "is_active", default=None, help="Whether anything is sent.")
@click.option("--max-in-flight", type=int, help="How many requests may wait for an answer.")
@click.option("--timeout", "timeout_ms", type=Duration(), help="How long to wait for an answer.")
@click.option(
    "--lease",
    "lease_ms",
    type=Duration(),
    help="How long a run may take after a 202, or an answer may be missing.",
)
@click.option("--max-attempts", type=int, help="Attempts of an event before it is a dead letter.")
@click.option("--max-events", type=int, help="How many events may wait.")
def set_(
    name: str,
    sends: tuple[str, ...],
    workflow: str | None,
    headers: tuple[str, ...],
    store_secret: bool,
    **others: Any,
) -> None:
    """Make the delivery NAME, or change what is named of it."""
    patch = {"name": name, **{k: _given(v) for k, v in others.items() if v is not None}}
    if sends:
        patch["sends"] = list(dict.fromkeys(sends))
    if headers:
        patch["headers"] = _headers(headers)
    secret = os.environ.get(WEBHOOK_SECRET, "")
    if store_secret and not secret.strip():
        raise click.UsageError(f"--store-secret keeps the secret of {WEBHOOK_SECRET}: set it")
    with installed() as conn, conn.transaction():
        if workflow is not None:
            patch["workflow_id"] = (
                None if workflow == NONE else str(find(conn, "workflow", workflow).id)
            )
        if store_secret and patch.get("secret_name") is None:
            before = _rows(conn, name)
            patch["secret_name"] = (before[0]["secret_name"] if before else None) or name
        set_by = "select d.name from lenses.fn_set_delivery(%s::jsonb) as d"
        one(conn, set_by, [json.dumps(patch)])
        if store_secret:
            keep = "select lenses.fn_set_delivery_secret(%s::text, %s::text)"
            conn.execute(keep.encode(), [patch["secret_name"], secret])
        (row,) = _rows(conn, name)
    emit_one(row)
    if row["secret"] == "missing":
        note(f'the secret "{row["secret_name"]}" is not there: nothing is posted until it is')


@click.command(epilog="\b\nExample:\n  lf-sql delivery test default")
@click.argument("name")
@click.option(
    "--wait",
    type=Duration(),
    default="1m",
    show_default=True,
    help="How long to wait for the answer.",
)
def test(name: str, wait: int) -> None:
    """Send the delivery NAME an event delivery.test, and say what became of it.

    It is posted and signed as all others are, and delivered where the endpoint answers 2xx or a
    consumer acknowledges it. Exit code 1 where it is not.
    """
    until = time.monotonic() + wait / 1000
    with installed() as conn:
        found = _test(conn, name, None, False)
        while found["status"] == "waiting":
            one(conn, "select lenses.fn_deliver() as count")
            found = _test(conn, name, found["id"], False)
            if found["status"] == "waiting" and ("problem" in found or time.monotonic() >= until):
                problem = found.get("problem")
                found = _test(conn, name, found["id"], True)
                found = {**found, "error": problem or found.get("error")}
            elif found["status"] == "waiting":
                time.sleep(LOOK)
    emit_one({"delivery": name, "status": found["status"], "error": found.get("error")})
    if found["status"] != "delivered":
        raise click.exceptions.Exit(1)


@click.command(epilog="\b\nExample:\n  lf-sql delivery delete chat --yes")
@click.argument("name")
@yes_option
def delete(name: str, yes: bool) -> None:
    """Delete the delivery NAME, its waiting events and its dead letters."""
    ask(f"Delete delivery {name} with the events that wait for it?", yes)
    with installed() as conn:
        conn.execute(b"select lenses.fn_delete_delivery(%s::text)", [name])
    if options().as_json:
        emit_one({"name": name, "status": "deleted"})
    else:
        note(f"delivery {name} is deleted")


def _rows(conn: Connection, name: str | None = None) -> list[dict[str, Any]]:
    """With `secret` in words: set, missing, or None where nothing is signed."""
    words = {True: "set", False: "missing", None: None}
    rows = conn.execute(LIST.encode(), [name, name]).fetchall()
    return [{**row, "secret": words[row["has_secret"]]} for row in rows]


def _test(conn: Connection, name: str, test_id: int | None, gives_up: bool) -> dict[str, Any]:
    query = "select lenses.fn_test_delivery(%s::text, %s::bigint, %s::boolean) as found"
    found: dict[str, Any] = one(conn, query, [name, test_id, gives_up])["found"]
    return found


def _given(value: Any) -> Any:
    return None if value == NONE else value


def _headers(headers: tuple[str, ...]) -> dict[str, str]:
    found = {}
    for header in headers if headers != (NONE,) else ():
        name, colon, value = header.partition(":")
        if not colon:
            raise click.BadParameter(f"NAME: VALUE is wanted, not {name!r}")
        found[name.strip()] = value.strip()
    return found


group = SuggestingGroup(
    "delivery",
    help="Where the database posts runs and events, by pg_net, and who claims events.",
    epilog="\b\nExample:\n  lf-sql delivery list",
    commands=[list_, set_, test, delete],
)
