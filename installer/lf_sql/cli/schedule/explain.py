"""lf-sql schedule explain: why a schedule fires, or does not, at a minute."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Any
from zoneinfo import ZoneInfo

import click

from lf_sql import instants
from lf_sql.cli.context import emit_one, options
from lf_sql.cli.schedule.look import ID, wall, zone_or_none
from lf_sql.cli.session import as_owner_of, one
from lf_sql.cli.terminal import prose

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
    rule, verdict = told["rule"], told["verdict"].replace("_", " ")
    click.echo(f"{rule['wall_time']} {rule['timezone']}: {verdict}")
    prose.labelled(_lines(told, zone_or_none(rule["timezone"])))


def _lines(told: dict[str, Any], zone: ZoneInfo | None) -> Iterator[tuple[str, str]]:
    """A label and what there is to say: the rule's fields and the guards, met or not."""
    yield "because", told["because"]
    yield "schedule", told["schedule"]
    if change := told["clock_change"]:
        at = wall(instants.read(change["at"]), zone)
        yield "clock", f"goes {change['kind']} {change['minutes']} minutes at {at}"
    for moved in told["moved_from"] or []:
        yield "moved", f"from {wall(instants.read(moved), zone)}"
    for field in told["rule"].get("fields", []):
        met = "met" if field["is_met"] else "not met"
        yield field["field"], f"{met}: it wants {field['wants']}, and this is {field['value']}"
    for guard in told["guards"] or []:
        met = "lets it through" if guard["is_met"] else "stops it"
        yield guard["guard"], f"{met}: {guard['detail']}"
    if ledger := told["ledger"]:
        yield "recorded", ": ".join(filter(None, [ledger["status"].lower(), ledger.get("reason")]))
    for name, label in (("slot_before", "slot before"), ("slot_after", "slot after")):
        if told[name]:
            yield label, wall(instants.read(told[name]), zone)


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
