"""fn_schedule_load counts slots by the hour as walking them would."""

from __future__ import annotations

from collections import Counter

import psycopg
import pytest

from tests.gateways.conftest import Gateway
from tests.support.database import Database, as_user

EXPRESSIONS = [
    ("*/5 * * * *", "UTC"),
    ("7,37 */3 * * *", "Asia/Kolkata"),
    ("0 0 1,15 * *", "Asia/Kathmandu"),
    ("15 9-17 * * 1-5", "America/New_York"),
    ("30 2 13 * 5", "Europe/Berlin"),
    ("59 23 * * *", "Australia/Adelaide"),
    ("0 12 L,1W * MON#1,FRIL", "America/New_York"),
]


@pytest.mark.parametrize("zone", ["UTC", "Asia/Kolkata", "Pacific/Auckland"])
def test_the_hours_hold_the_slots_of_the_week(db: Database, gateway: Gateway, zone: str) -> None:
    for number, (expression, timezone) in enumerate(EXPRESSIONS):
        gateway.cron(expression, operation=f"op_{number}", timezone=timezone, next_run_at=None)
    with as_user(db, gateway.owner):
        cells = db.rows("select * from public.fn_schedule_load(%s)", [zone])
    begin, end = (
        cells[0].hour_at,
        db.value("select %s::timestamptz + interval '1 hour'", [cells[-1].hour_at]),
    )
    wanted: Counter = Counter()
    for expression, timezone in EXPRESSIONS:
        slots = db.column(
            "select slot from lenses.fn_cron_next(%s, %s, %s::timestamptz - interval '1 second', 3000) "
            "as slot where slot < %s",
            [expression, timezone, begin, end],
        )
        wanted.update(max(c.hour_at for c in cells if c.hour_at <= slot) for slot in slots)
    assert len(cells) == 168
    assert {c.hour_at: c.slots for c in cells if c.slots} == dict(wanted)


def test_what_is_off_does_not_count(db: Database, gateway: Gateway) -> None:
    gateway.cron(next_run_at=None)
    with as_user(db, gateway.owner):
        db.execute(
            "select public.fn_gateway_cron_update(id, p_is_active => false) from public.fn_gateway_cron_list()"
        )
        assert db.value("select sum(slots) from public.fn_schedule_load('UTC')") == 0


def test_an_unknown_zone_is_refused(db: Database, gateway: Gateway) -> None:
    with pytest.raises(psycopg.errors.InvalidParameterValue), as_user(db, gateway.owner):
        db.execute("select * from public.fn_schedule_load('Mars/Base')")
