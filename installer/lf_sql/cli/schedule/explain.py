"""lf-sql schedule explain: why a schedule fires, or does not, at a minute."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, tzinfo
from typing import Any

import click

from lf_sql import instants
from lf_sql.cli.context import emit_one, options
from lf_sql.cli.schedule.look import ID, wall, zone_or_none
from lf_sql.cli.session import as_owner_of, one
from lf_sql.plain import plain

ZONE = "select s.timezone from lenses.workflow_schedules as s where s.id = %s"
EXPLAIN = "select public.fn_explain_schedule(%s::uuid, %s::timestamptz) as explained"
MINUTE = timedelta(minutes=1)


@click.command(
    "explain", epilog='\b\nExample:\n  lf-sql schedule explain 3f2a --at "2026-11-26 08:30"'
)
@ID
@click.option(
    "--at", "text", required=True, help="The minute; without an offset, in the schedule's zone."
)
def command(schedule: str, text: str) -> None:
    """Explain why it fires, fired or does not at a minute: rule, clock, window, guards, ledger."""
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        raise click.BadParameter(f"{text!r} is no minute; write 2026-11-26T08:30") from None
    with as_owner_of("schedule", schedule) as (conn, found):
        if at.tzinfo is None:
            zone = zone_or_none(one(conn, ZONE, [found.id])["timezone"])
            try:
                at = _instant(at, zone or UTC)
            except OverflowError:
                raise click.BadParameter(f"{text!r} is too far off") from None
        row = one(conn, EXPLAIN, [found.id, at])
    told: dict[str, Any] = row["explained"]
    if options().as_json:
        emit_one(told)
        return
    zone = zone_or_none(told["rule"]["timezone"])
    click.echo(f"{told['rule']['wall_time']} {told['rule']['timezone']}: {told['verdict']}")
    click.echo(plain(f"  because {told['because']}"))
    click.echo(plain(f"  called  {told['schedule']}"))
    change = told["clock_change"]
    if change:
        at_text = wall(instants.read(change["at"]), zone)
        click.echo(f"  clock   goes {change['kind']} {change['minutes']} minutes at {at_text}")
    for moved in told["moved_from"] or []:
        click.echo(f"  moved   from {wall(instants.read(moved), zone)}")
    for field in told["rule"].get("fields", []):
        met = "yes" if field["is_met"] else "no"
        click.echo(f"  {met:<7} {field['field']}: wants {field['wants']}, is {field['value']}")
    for guard in told["guards"] or []:
        met = "yes" if guard["is_met"] else "no"
        click.echo(plain(f"  {met:<7} {guard['guard']}: {guard['detail']}"))
    if told["ledger"]:
        ledger = told["ledger"]
        click.echo(f"  ledger  {ledger['status']} {ledger.get('reason', '')}".rstrip())
    for name in ("slot_before", "slot_after"):
        if told[name]:
            click.echo(f"  {name[5:]:<7} {wall(instants.read(told[name]), zone)}")


def _instant(at: datetime, zone: tzinfo) -> datetime:
    """When a schedule's clock shows `at`: the first time of two, the end of a gap that skips it."""
    late = at.replace(tzinfo=zone).astimezone(UTC)
    if late.astimezone(zone).replace(tzinfo=None) == at:
        return late
    early = at.replace(tzinfo=zone, fold=1).astimezone(UTC)
    while late - early > MINUTE:
        middle = early + (late - early) // MINUTE // 2 * MINUTE
        if middle.astimezone(zone).replace(tzinfo=None) < at:
            early = middle
        else:
            late = middle
    return late
