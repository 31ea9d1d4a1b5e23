"""The schedules of the demonstration, and the days that it speaks of."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

STEP = timedelta(minutes=10)  # every slot lies on such a minute
OUTAGE = (time(14, 5), time(14, 35))  # without a tick from the first to before the second
FREE = {"requiresApproval": False}


@dataclass(frozen=True)
class Plan:
    """One schedule, and the workflow of the same name that it starts."""

    name: str
    cron: str
    zone: str
    says: str  # what is special about it
    arguments: dict[str, Any] = field(default_factory=dict)  # of fn_upsert_workflow_schedule
    has_holidays: bool = False


PLANS = (
    Plan(
        "orders",
        "*/10 * * * *",
        "UTC",
        "outage: one run",
        {"p_queue_policy": {"onMissed": "run_once"}},
    ),
    Plan("probe", "*/30 * * * *", "UTC", "outage: skipped"),
    Plan(
        "newsletter",
        "0 * * * *",
        "UTC",
        "three topics in turn",
        {"p_inputs_rotation": [{"topic": "cats"}, {"topic": "dogs"}, {"topic": "owls"}]},
    ),
    Plan(
        "invoices",
        "0 6 * * *",
        "Europe/Istanbul",
        "waits for approval",
        {"p_approval_policy": {"requiresApproval": True}},
    ),
    Plan(
        "ledger",
        "40 7 * * *",
        "Europe/London",
        "retried when it fails",
        {"p_retry_policy": {"maxRetries": 2, "backoffMs": 1000}},
    ),
    Plan("brief", "30 8 * * *", "America/New_York", "not on holidays", has_holidays=True),
    Plan("backup", "30 2 * * *", "Europe/Berlin", "when clocks change"),
)
EVERY_MINUTE = Plan("heartbeat", "* * * * *", "UTC", "every minute, for real")
BACKUP = PLANS[-1]


def day_before(now: datetime) -> datetime:
    """The midnight, in UTC, at which yesterday began."""
    today = datetime.combine(now.astimezone(UTC).date(), time(), UTC)
    return today - timedelta(days=1)


def ticks(start: datetime, until: datetime) -> list[datetime]:
    """The ticks: every ten minutes, except during the outage of the first day."""
    begin, end = (datetime.combine(start.date(), at, UTC) for at in OUTAGE)
    count = (until - start) // STEP + 1
    return [at for n in range(count) if not begin <= (at := start + n * STEP) < end]


def next_turn(zone: str, after: date) -> tuple[date, bool]:
    """The next day on which the clocks of a zone are turned, and whether it is forward."""
    at = datetime.combine(after, time(12), ZoneInfo(zone))
    for _ in range(400):
        before, at = at, at + timedelta(days=1)
        if at.utcoffset() != before.utcoffset():
            return at.date(), (at.utcoffset() or STEP) > (before.utcoffset() or STEP)
    raise ValueError(f"the clocks of {zone} are not turned")
