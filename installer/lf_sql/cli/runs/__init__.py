"""lf-sql runs: what was dispatched, the owner's decisions, and a small executor."""

from __future__ import annotations

from lf_sql.cli.lazy import SuggestingGroup
from lf_sql.cli.runs import decide, deliver, look, work

group = SuggestingGroup(
    "runs",
    help="Runs: look at them, decide about them, and execute them.",
    epilog="\b\nExamples:\n"
    "  lf-sql runs list --status pending_approval\n"
    '  lf-sql runs approve 5c01 --note "looks right"\n'
    "  lf-sql runs work --concurrency 4 -- ./report.py",
    commands=[*look.COMMANDS, *decide.COMMANDS, work.command, deliver.command],
)

__all__ = ["group"]
