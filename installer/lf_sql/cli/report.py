"""What install, status and verify tell a person."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from lf_sql.apply import Outcome
from lf_sql.bundle import Bundle
from lf_sql.cli.terminal import prose
from lf_sql.compare import Finding
from lf_sql.errors import LfSqlError
from lf_sql.job_types import Driver
from lf_sql.plain import plain, plain_lines
from lf_sql.plan import Plan
from lf_sql.uninstall import Removed


def installed(
    bundle: Bundle,
    outcome: Outcome,
    driver: Driver,
    sequences: Sequence[Finding],
    weaker: Sequence[str],
) -> None:
    """The end of an install. Raises where something is left that install cannot mend."""
    plan = outcome.plan
    if not plan.is_pending:
        click.echo(f"lf-sql {bundle.version} is up to date, nothing to do")
    elif plan.is_mending:
        mended = [f for f in outcome.findings if f not in outcome.leftovers]
        click.echo(f"lf-sql {bundle.version}: mended {len(mended)} in {outcome.seconds:.1f} s")
        show_some(mended)
    else:
        reasons = ", ".join(r for r in plan.reasons if not r.startswith("migration"))
        click.echo(
            f"lf-sql {bundle.version} installed in {outcome.seconds:.1f} s: "
            f"{len(plan.migrations)} migrations, {len(bundle.sources)} sources"
            + (f" ({reasons})" if reasons else "")
        )
    for finding in sequences:
        prose.said(f"mended: {finding}")
    for line in weaker:
        prose.said(f"weaker: {line}")
    show_driver(driver)
    refuse_leftovers(outcome)


def as_row(
    bundle: Bundle,
    outcome: Outcome,
    driver: Driver,
    sequences: Sequence[Finding],
    weaker: Sequence[str],
) -> dict[str, Any]:
    """The end of an install, for --json."""
    plan = outcome.plan
    mended = [f for f in outcome.findings if f not in outcome.leftovers] if plan.is_mending else []
    return {
        "version": bundle.version,
        "seconds": round(outcome.seconds, 3),
        "reasons": list(plan.reasons),
        "migrations": [migration.label for migration in plan.migrations],
        "mended": [str(finding) for finding in (*mended, *sequences)],
        "weaker": list(weaker),
        "jobs": list(driver.registered),
        "pg_cron": [trouble.problem for trouble in driver.troubles]
        + [str(finding) for finding in driver.findings],
        "leftovers": [str(finding) for finding in outcome.leftovers],
    }


def planned(bundle: Bundle, plan: Plan, script: str) -> dict[str, Any]:
    """What an install would do, for --dry-run --json; no reasons where there is nothing to do."""
    return {
        "version": bundle.version,
        "reasons": list(plan.reasons),
        "migrations": [migration.label for migration in plan.migrations],
        "script": script,
    }


def refuse_leftovers(outcome: Outcome) -> None:
    """Raise where something is left that install cannot mend."""
    if outcome.leftovers:
        show_some(outcome.leftovers, err=True)
        raise LfSqlError(
            f"{len(outcome.leftovers)} things are not as this version installs them, "
            "and a replay does not mend them",
            "restore what a migration made from a backup; drop what is unexpected",
        )


def show_some(findings: Sequence[Finding], *, err: bool = False, most: int = 20) -> None:
    """The first of them; `lf-sql verify` lists them all."""
    say = prose.on_stderr if err else click.echo
    for finding in findings[:most]:
        say(f"  {plain(finding)}")
    if len(findings) > most:
        say(f"  and {len(findings) - most} more")


def show_driver(driver: Driver) -> None:
    """The jobs, or exactly what is missing."""
    if driver.registered:
        prose.said(f"pg_cron: {', '.join(driver.registered)} registered")
    for trouble in driver.troubles:
        prose.said(f"pg_cron: {trouble.problem}")
        for command in trouble.commands:
            click.echo(f"    {plain_lines(command)}")
    for finding in driver.findings:
        prose.said(f"pg_cron: {finding}")


def removed(what: Removed) -> None:
    """The end of an uninstall."""
    gone = [f"{what.functions} functions in public", "5 schemas"]
    gone += [f"job {name}" for name in what.jobs]
    gone += [f"role {name}" for name in what.roles]
    prose.said(f"lf-sql is removed: {', '.join(gone)}")
    for name in what.kept:
        prose.said(f"kept: role {name}, which other databases or objects use")
    for line in what.warnings:
        prose.aside(line, "warning: ")
