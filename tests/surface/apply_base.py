"""The file of schedules that the tests of apply begin with, and the rows that it makes."""

from __future__ import annotations

from tests.support.database import Database

BASE = """\
project: shop
calendars:
  closing:
    timezone: Europe/Berlin
    dates: [2026-12-24]
workflows:
  Nightly report:
    definition: {nodes: [{id: a}], edges: []}
    schedules:
      morning:
        cron: 0 9 * * 1-5
        timezone: Europe/Berlin
        calendar: closing
        retry: {maxRetries: 2}
      later:
        every: 6h
"""


def rows(db: Database) -> dict[str, tuple[object, ...]]:
    """Every schedule with what must not move."""
    found = db.rows(
        "select name, id, next_run_at, due_at, cron_expr, updated_at, paused_at "
        "from lenses.workflow_schedules order by name"
    )
    return {row.name: tuple(row) for row in found}
