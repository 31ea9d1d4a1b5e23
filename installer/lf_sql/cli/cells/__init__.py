"""lf-sql cells: more than one machine."""

from __future__ import annotations

from lf_sql.cli.cells import change, every, foreign, where
from lf_sql.cli.lazy import SuggestingGroup

group = SuggestingGroup(
    "cells",
    help="Several databases with lf-sql, a directory of them, and tenants that move.",
    epilog="\b\nExamples:\n"
    "  lf-sql cells add berlin --dsn postgresql://postgres@b.example.org/app\n"
    "  lf-sql cells move USER_UUID --to berlin\n"
    "  lf-sql cells health",
    commands=[*where.COMMANDS, *change.COMMANDS, *every.COMMANDS, *foreign.COMMANDS],
)

__all__ = ["group"]
