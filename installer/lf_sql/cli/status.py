"""lf-sql status: what is installed here, and what drives it."""

from __future__ import annotations

import click

from lf_sql import apply, bundle, jobs
from lf_sql.cli.context import command_name, connect, connect_cron, cron_option, emit_one
from lf_sql.cli.progress import progress
from lf_sql.errors import LfSqlError


@click.command(epilog="\b\nExample:\n  lf-sql status --json")
@cron_option
def command(cron_dsn: str | None) -> None:
    """Say which version is installed, what is pending, and which jobs drive it."""
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
    emit_one(
        {
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
    )
    if installed is None:
        raise LfSqlError("lf-sql is not installed in this database", "lf-sql install")
    if outcome.plan.is_pending:
        raise LfSqlError("the database is not up to date", "lf-sql upgrade")
