"""Times that people write without an offset: what a schedule's clock shows, as instants."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import click
import psycopg

from lf_sql.db import Connection

DEFAULT_ZONE = "UTC"  # of a schedule that is given none

# By the offsets of the day before and the day after: the server's zones decide about slots too.
INSTANTS = """
select distinct i.at, i.at at time zone %(zone)s = n.wall as is_shown
from (select %(wall)s::timestamp as wall) as n
cross join unnest(array[n.wall - interval '1 day', n.wall + interval '1 day']) as d (near)
cross join lateral (
  select (n.wall - ((d.near at time zone 'UTC') at time zone %(zone)s - d.near))
    at time zone 'UTC' as at
) as i
order by i.at
"""


def instant(conn: Connection, at: datetime, zone: str, option: str) -> datetime:
    """When the clock of `zone` shows `at`; an `at` with an offset is an instant already.

    Wrong usage where the clock shows it never or twice: only an offset says what is meant.
    """
    if at.tzinfo is not None:
        return at
    try:
        rows = conn.execute(INSTANTS.encode(), {"wall": at, "zone": zone}).fetchall()
    except psycopg.errors.InvalidParameterValue:
        raise click.BadParameter(
            f'the server knows no time zone "{zone}"', param_hint="--tz"
        ) from None
    except psycopg.DataError:
        raise click.BadParameter(f"{at.isoformat()} is too far off", param_hint=option) from None
    shown = [row["at"] for row in rows if row["is_shown"]]
    if len(shown) == 1:
        found: datetime = shown[0]
        return found
    said = at.isoformat(timespec="minutes")
    what = "stands twice" if shown else "does not exist"
    ways = " or ".join(_written(at, row["at"]) for row in rows)
    raise click.BadParameter(
        f"{said} {what} on the clock of {zone}: write it with its offset, {ways}",
        param_hint=option,
    )


def instants(
    conn: Connection, values: dict[str, Any], zone: str, options: dict[str, str]
) -> dict[str, Any]:
    """The values, those that `options` names as instants; `options` says how each is called."""
    return values | {
        name: instant(conn, values[name], zone, option)
        for name, option in options.items()
        if values.get(name) is not None
    }


def _written(wall: datetime, at: datetime) -> str:
    """`wall` with the offset that makes it the instant `at`."""
    minutes = round((wall - at.replace(tzinfo=None)).total_seconds()) // 60
    hours, minutes = divmod(abs(minutes), 60)
    sign = "-" if wall < at.replace(tzinfo=None) else "+"
    return f"{wall.isoformat(timespec='minutes')}{sign}{hours:02}:{minutes:02}"
