"""Which runs a command is about: ids, or what filters find."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import click

from lf_sql.cli.candidates import complete
from lf_sql.cli.lookup import Found
from lf_sql.cli.params import Instant
from lf_sql.cli.session import id_of
from lf_sql.db import Connection

STATUSES = [
    "pending_approval",
    "pending",
    "running",
    "completed",
    "failed",
    "cancelled",
    "timed_out",
]
FAILED = ("failed", "timed_out")

WHERE = """
where (%(status)s::text[] is null or r.status = any(%(status)s::text[]))
  and (%(schedule)s::uuid is null or r.schedule_id = %(schedule)s::uuid)
  and (%(workflow)s::uuid is null or r.workflow_id = %(workflow)s::uuid)
  and (%(since)s::timestamptz is null or r.created_at >= %(since)s::timestamptz)
  and (%(until)s::timestamptz is null or r.created_at <= %(until)s::timestamptz)
  and (%(user)s::uuid is null or p.user_id = %(user)s::uuid)
"""
CHOSEN = f"""
select r.id, p.user_id from lenses.workflow_runs as r
join lensers.profiles as p on p.id = r.lenser_id {WHERE}
order by r.created_at, r.id
limit %(limit)s
"""  # noqa: S608


@dataclass(frozen=True)
class Filters:
    """What --status, --failed, --schedule, --workflow, --since and --until say."""

    status: tuple[str, ...]
    schedule: str | None
    workflow: str | None
    since: datetime | None
    until: datetime | None

    @property
    def are_given(self) -> bool:
        """Whether any filter is given."""
        return self != Filters((), None, None, None, None)

    def among(self, statuses: Sequence[str]) -> Filters:
        """These, of runs in one of `statuses` only, which are all where none is named."""
        wanted = tuple(s for s in self.status or statuses if s in statuses)
        if not wanted:
            raise click.UsageError(
                f"--status {self.status[0]}: only runs that are {', '.join(statuses)}"
            )
        return replace(self, status=wanted)

    def values(self, conn: Connection) -> dict[str, Any]:
        """The parameters of WHERE, but `user` and `limit`."""
        return {
            "status": list(self.status) or None,
            "schedule": id_of(conn, "schedule", self.schedule),
            "workflow": id_of(conn, "workflow", self.workflow),
            "since": self.since,
            "until": self.until,
        }


def filtered(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the filters, as one argument `filters`."""

    @functools.wraps(command)
    def run(
        *args: Any,
        status: tuple[str, ...],
        failed: bool,
        schedule: str | None,
        workflow: str | None,
        since: datetime | None,
        until: datetime | None,
        **named: Any,
    ) -> Any:
        statuses = status + tuple(s for s in FAILED if failed and s not in status)
        return command(*args, filters=Filters(statuses, schedule, workflow, since, until), **named)

    for option in reversed(
        (
            click.option(
                "--status",
                type=click.Choice(STATUSES),
                metavar="STATUS",
                multiple=True,
                help=f"{', '.join(STATUSES)}. May be repeated.",
            ),
            click.option(
                "--failed", is_flag=True, help="The same as --status failed --status timed_out."
            ),
            click.option(
                "--schedule", help="Of this schedule.", shell_complete=complete("schedule")
            ),
            click.option(
                "--workflow", help="Of this workflow.", shell_complete=complete("workflow")
            ),
            click.option(
                "--since", type=Instant(-1), help="Created since: a time, or 6h or 3d before now."
            ),
            click.option(
                "--until", type=Instant(-1), help="Created until: a time, or 6h or 3d before now."
            ),
        )
    ):
        run = option(run)
    return run


def chosen(conn: Connection, filters: Filters, user: object, limit: int | None) -> list[Found]:
    """The runs that the filters find, oldest first."""
    values = filters.values(conn) | {"user": user, "limit": limit}
    rows = conn.execute(CHOSEN.encode(), values).fetchall()
    return [Found(row["id"], row["user_id"]) for row in rows]
