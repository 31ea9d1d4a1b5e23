"""lf-sql schedule condition: dispatch a slot only where a filter says yes."""

from __future__ import annotations

import json
from typing import Any

import click

from lf_sql.cli.context import emit, emit_one, options
from lf_sql.cli.lazy import SuggestingGroup, taking
from lf_sql.cli.params import Json
from lf_sql.cli.schedule.change import brief
from lf_sql.cli.schedule.look import ID
from lf_sql.cli.session import as_owner_of, find, installed, one

LONGEST = 60  # characters of a value in the table; --json has it whole
FILTER = """A filter maps JSON pointers to operators: {"/prior_run_result/ok": {"eq": true}}"""


@click.command(
    "set",
    cls=taking("--filter"),
    epilog="\b\nExample:\n  lf-sql schedule condition set 3f2a "
    '\'{"/last_24h_stats/failed": {"lt": 3}}\'',
)
@ID
@click.argument("condition", metavar="FILTER", type=Json())
def set_(schedule: str, condition: str) -> None:
    """Store FILTER; a slot is skipped where it is false or cannot be evaluated."""
    with as_owner_of("schedule", schedule) as (conn, found):
        row = one(
            conn,
            "select s.* from public.fn_set_schedule_condition(%s, %s) as s",
            [found.id, condition],
        )
    brief(row, "condition set")


@click.command(epilog="\b\nExample:\n  lf-sql schedule condition clear 3f2a")
@ID
def clear(schedule: str) -> None:
    """Dispatch every slot again."""
    with as_owner_of("schedule", schedule) as (conn, found):
        row = one(
            conn, "select s.* from public.fn_set_schedule_condition(%s, null) as s", [found.id]
        )
    brief(row, "condition cleared")


TEST = """
select f.condition, c.context, automation.fn_eval_filter(f.condition, c.context) as passes, array(
  select pg_catalog.to_jsonb(e) from automation.fn_explain_filter(f.condition, c.context) as e
) as tests
from lenses.workflow_schedules as s
cross join lateral (select coalesce(%s::jsonb, s.pre_dispatch_condition) as condition) as f
cross join lateral (select lenses.fn_build_schedule_condition_context(s.id) as context) as c
where s.id = %s
"""


@click.command(epilog="\b\nExample:\n  lf-sql schedule condition test 3f2a")
@ID
@click.argument("condition", metavar="[FILTER]", type=Json(), required=False)
def test(schedule: str, condition: str | None) -> None:
    """Each path of FILTER, or of the stored one, with what the tick sees now; exit 1: it skips."""
    with installed() as conn:
        found = find(conn, "schedule", schedule)
        row = one(conn, TEST, [condition, found.id])
    if options().as_json:
        emit_one(row)
    else:
        emit_one({"passes": row["passes"]})
        emit(
            [
                {
                    "path": test["path"] or '""',
                    "wants": f"{test['operator']} {_json(test['operand'])}",
                    "is": _json(test["value"]),
                    "met": test["is_met"],
                }
                for test in row["tests"]
            ],
            ["path", "wants", "is", "met"],
            empty="no condition: every slot passes",
        )
    if not row["passes"]:
        raise click.exceptions.Exit(1)


def _json(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"


group = SuggestingGroup(
    "condition",
    help=f"Dispatch a slot only where a filter says yes. {FILTER}",
    epilog="\b\nExample:\n  lf-sql schedule condition test 3f2a",
    commands=[set_, clear, test],
)
