"""lf-sql schedule: everything about schedules, a module a subject."""

from __future__ import annotations

from lf_sql.cli.lazy import SuggestingGroup
from lf_sql.cli.schedule import (
    ahead,
    calendar,
    change,
    condition,
    define,
    explain,
    health,
    look,
    recompute,
    rotation,
)

group = SuggestingGroup(
    "schedule",
    help="Create, watch and steer schedules. ID is an id, the beginning of one, or a name.",
    epilog="\b\nExamples:\n"
    '  lf-sql schedule create "Nightly report" --cron "0 9 * * 1-5" --tz Asia/Tokyo\n'
    "  lf-sql schedule preview 3f2a --next 5\n"
    "  lf-sql schedule health",
    commands=[
        *look.COMMANDS,
        *ahead.COMMANDS,
        *define.COMMANDS,
        *change.COMMANDS,
        *recompute.COMMANDS,
        explain.command,
        health.command,
        calendar.group,
        condition.group,
        rotation.group,
    ],
)
group.add_command(look.show, "inspect")

__all__ = ["group"]
