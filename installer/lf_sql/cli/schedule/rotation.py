"""lf-sql schedule rotation: inputs that take turns."""

from __future__ import annotations

import click

from lf_sql.cli.lazy import SuggestingGroup, taking
from lf_sql.cli.params import Json
from lf_sql.cli.schedule.change import brief
from lf_sql.cli.schedule.look import ID
from lf_sql.cli.session import as_owner_of, one


@click.command(
    "set",
    cls=taking("--inputs"),
    epilog='\b\nExample:\n  lf-sql schedule rotation set 3f2a \'[{"tone":"dry"},{"tone":"warm"}]\'',
)
@ID
@click.argument("rotation", metavar="ARRAY", type=Json())
def set_(schedule: str, rotation: str) -> None:
    """Use the entries of ARRAY as inputs in turn; a different array starts at its first."""
    with as_owner_of("schedule", schedule) as (conn, found):
        row = one(
            conn,
            "select s.* from public.fn_set_schedule_inputs_rotation(%s, %s) as s",
            [found.id, rotation],
        )
    brief(row, "rotation set")


@click.command(epilog="\b\nExample:\n  lf-sql schedule rotation clear 3f2a")
@ID
def clear(schedule: str) -> None:
    """Use the schedule's own inputs again."""
    with as_owner_of("schedule", schedule) as (conn, found):
        row = one(
            conn,
            "select s.* from public.fn_set_schedule_inputs_rotation(%s, null) as s",
            [found.id],
        )
    brief(row, "rotation cleared")


group = SuggestingGroup(
    "rotation",
    help="Inputs to use in turn.",
    epilog='\b\nExample:\n  lf-sql schedule rotation set 3f2a \'[{"tone":"dry"},{"tone":"warm"}]\'',
    commands=[set_, clear],
)
