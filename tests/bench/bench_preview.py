"""The preview of 200 slots against a walk by the minute over 31 days."""

from __future__ import annotations

from tests.bench.load import Bench
from tests.bench.report import Row, medians, ms
from tests.support.database import make_tenant
from tests.support.work import make_schedule, make_workflow

# Each has at least 200 slots in 31 days.
EXPRESSIONS = (
    ("* * * * *", "UTC"),
    ("*/5 * * * *", "America/New_York"),
    ("0,30 8-18 * * 1-5", "Europe/Istanbul"),
    ("15 */2 * * *", "Australia/Lord_Howe"),
)
PREVIEW = "select count(*) from lenses.fn_preview_schedule_ticks(%s, 200)"
WALK = (
    "select count(*) from generate_series(now(), now() + interval '31 days', interval '1 minute') as m "
    "where lenses.fn_cron_matches_now(%s, m, %s)"
)


def run(bench: Bench) -> list[Row]:
    slowest, fewest, walked = 0.0, float("inf"), 0.0
    with bench.database("bench_preview") as conn:
        workflow = make_workflow(conn, make_tenant(conn))
        calendar = conn.value(
            "select id from lenses.schedule_calendars where name = 'us-federal-holidays-2026'"
        )
        for expression, zone in EXPRESSIONS:
            schedule = make_schedule(
                conn, workflow, cron_expr=expression, timezone=zone, calendar_id=calendar,
                inputs_rotation='[{"n": 1}, {"n": 2}, {"n": 3}]',
            )  # fmt: skip
            found = conn.value(PREVIEW, [schedule])
            assert found == 200, f"{expression}: {found} slots, not 200"
            [preview] = medians(15, lambda s=schedule: conn.execute(PREVIEW, [s]))
            [walk] = medians(1, lambda e=expression, z=zone: conn.execute(WALK, [e, z]))
            slowest = max(slowest, preview)
            if walk / preview < fewest:
                fewest, walked = walk / preview, walk
    return [
        Row(
            "preview of 200 slots, the worst of 4 expressions",
            ms(slowest),
            f"{ms(walked)} by the minute over 31 days",
            f"{fewest:.0f} times as fast",
            "<= 20 ms; >= 100 times",
            slowest <= 0.020 and fewest >= 100,
        )
    ]
