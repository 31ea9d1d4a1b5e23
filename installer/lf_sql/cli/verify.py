"""lf-sql verify: read-only, against what this version installs."""

from __future__ import annotations

import click

from lf_sql import bundle, verify
from lf_sql.cli.context import (
    command_name,
    connect,
    connect_cron,
    cron_option,
    emit,
    note,
    options,
)
from lf_sql.cli.progress import progress
from lf_sql.errors import LfSqlError


@click.command(epilog="\b\nExample:\n  lf-sql verify || lf-sql install")
@cron_option
def command(cron_dsn: str | None) -> None:
    """Compare catalogue, grants, guards, jobs and invariants with what this version installs."""
    tree = bundle.load()
    with connect(is_patient=True) as conn, connect_cron(cron_dsn) as cron, progress(command_name()):
        conn.read_only = True
        report = verify.verify(conn, tree, cron)
    rows = [
        {"severity": "wrong", "kind": f.kind, "what": f.identity, "problem": f.problem}
        for f in report.findings
    ]
    for severity, kind, lines in (
        ("weaker", "roles", report.weaker),
        ("note", "pg_cron", report.driver_notes),
    ):
        rows += [
            {"severity": severity, "kind": kind, "what": "", "problem": line} for line in lines
        ]
    if rows or options().as_json:
        emit(rows, ["severity", "kind", "what", "problem"])
    if report.findings:
        many = len(report.findings)
        raise LfSqlError(
            f"{many} {'thing is' if many == 1 else 'things are'} not as lf-sql {tree.version} "
            "installs them",
            "lf-sql install mends what can be mended",
        )
    note(f"lf-sql {tree.version}: everything is as installed")
