"""lf-sql preview: what becomes of the slots of days to come, of all schedules."""

from __future__ import annotations

from datetime import datetime

import click

from lf_sql.cli.schedule.ahead import DAY, by_day


@click.command(epilog="\b\nExample:\n  lf-sql preview --from 2026-12-01 --days 31 > preview.txt")
@click.option("--from", "since", type=DAY, help="The first day (today), each in its own zone.")
@click.option(
    "--days", type=click.IntRange(1, 366), default=31, show_default=True, help="How many days."
)
@click.option("--all", is_flag=True, hidden=True, expose_value=False)
def command(since: datetime | None, days: int) -> None:
    """Preview all schedules day by day, for a file in the repository."""
    by_day(None, since.date() if since else None, days)
