"""lf-sql status: what is installed here, and what drives it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from lf_sql import apply, bundle, jobs
from lf_sql.cli.context import (
    command_name,
    connect,
    connect_cron,
    cron_option,
    emit_one,
    is_for_a_person,
)
from lf_sql.cli.progress import progress
from lf_sql.cli.terminal import record, words
from lf_sql.errors import LfSqlError


@click.command(epilog="\b\nExample:\n  lf-sql status --json")
@cron_option
def command(cron_dsn: str | None) -> None:
    """Show which version is installed, what is pending, and which jobs drive it."""
    tree = bundle.load()
    with connect(is_patient=True) as conn, connect_cron(cron_dsn) as cron, progress(command_name()):
        conn.read_only = True
        outcome = apply.prepare(conn, tree, to_write=False)
        installed = (
            conn.execute(
                "select product_version, installed_at, installed_by from lf_sql.installs "
                "order by id desc limit 1"
            ).fetchone()
            if outcome.is_installed
            else None
        )
        driver = jobs.inspect(conn, tree, cron)
        server = conn.info.parameter_status("server_version")
    row = {
        "installed": installed["product_version"] if installed else None,
        "installed_at": installed["installed_at"] if installed else None,
        "installed_by": installed["installed_by"] if installed else None,
        "command": tree.version,
        "server": server,
        "pending": list(outcome.plan.reasons),
        "stands_in": dict(outcome.plan.role_map),
        "jobs": driver.registered,
        "pg_cron": [trouble.problem for trouble in driver.troubles]
        + [str(finding) for finding in driver.findings],
    }
    if is_for_a_person():
        _draw(row)
    else:
        emit_one(row)
    if installed is None:
        raise LfSqlError("lf-sql is not installed in this database", "lf-sql install")
    if outcome.plan.is_pending:
        raise LfSqlError("the database is not up to date", "lf-sql upgrade")


def _pending(reasons: Sequence[str]) -> str:
    """Many migrations as the first and the last of them."""
    steps = [one for one in reasons if one.startswith("migration ")]
    if len(steps) > 2:
        first, last = (step.removeprefix("migration ") for step in (steps[0], steps[-1]))
        reasons = [f"{len(steps)} migrations, {first} to {last}"] + [
            one for one in reasons if one not in steps
        ]
    return "; ".join(reasons) or "nothing"


def _draw(row: dict[str, Any]) -> None:
    """The same for a person."""
    stands_in = "; ".join(f"{role} for {what}" for what, role in row["stands_in"].items())
    record.show(
        {
            "installed": f"version {row['installed']} by {row['installed_by']}, "
            f"{words.when(row['installed_at'])}"
            if row["installed"]
            else "not here",
            "this command": f"version {row['command']}",
            "server": f"PostgreSQL {row['server']}",
            "pending": _pending(row["pending"]),
            "roles": stands_in if any(k != v for k, v in row["stands_in"].items()) else None,
            "jobs": ", ".join(row["jobs"]) or "none: pg_cron drives nothing here",
            "pg_cron": "; ".join(row["pg_cron"]),
        }
    )
