"""lf-sql schedule calendar: dates on which slots are skipped, or the only ones that count."""

from __future__ import annotations

import sys
from datetime import date
from pathlib import Path
from typing import Any

import click

from lf_sql import ics, public_holidays
from lf_sql.cli.candidates import complete, zones
from lf_sql.cli.context import acting, emit, is_for_a_person, note
from lf_sql.cli.lazy import SuggestingGroup, taking
from lf_sql.cli.params import Filled, FilledPath, Json, is_utf8
from lf_sql.cli.progress import progress
from lf_sql.cli.schedule import views
from lf_sql.cli.schedule.calendar_change import days, delete, show, update
from lf_sql.cli.schedule.change import brief
from lf_sql.cli.schedule.look import ID
from lf_sql.cli.session import as_asked, as_owner_of, as_tenant, find, id_of, installed, one
from lf_sql.cli.terminal.ask import ask, yes_option

KIND = click.option(
    "--kind",
    type=click.Choice(["skip_dates", "only_dates"]),
    default="skip_dates",
    show_default=True,
    help="Skip slots on these dates, or on all others.",
)
LIST = """
select
  c.id, c.name, c.kind, c.timezone, pg_catalog.cardinality(c.dates) as dates,
  pg_catalog.jsonb_array_length(c.rules) as rules, c.dates[1] as first,
  c.dates[pg_catalog.cardinality(c.dates)] as last, c.is_seed,
  (select count(*) from lenses.workflow_schedules as s where s.calendar_id = c.id) as schedules
from lenses.schedule_calendars as c
order by c.is_seed, c.name, c.id
"""
COLUMNS = [
    "id",
    "name",
    "kind",
    "timezone",
    "dates",
    "rules",
    "first",
    "last",
    "is_seed",
    "schedules",
]
ZONE = click.option(
    "--tz",
    "--timezone",
    "timezone",
    default="UTC",
    show_default=True,
    shell_complete=zones,
    help="Zone of its dates.",
)


class Day(click.ParamType):
    """A date, written as 2026-12-25."""

    name = "date"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> date:
        try:
            return value if isinstance(value, date) else date.fromisoformat(str(value))
        except ValueError:
            self.fail(f"{value!r} is no date: write 2026-12-25", param, ctx)


@click.command(
    "list", epilog="\b\nExample:\n  lf-sql schedule calendar list --dates us-federal-holidays-2026"
)
@click.option("--dates", "which", help="The dates of one.", shell_complete=complete("calendar"))
@click.option("--from", "since", type=Day(), help="First of its dates (1 January of this year).")
@click.option("--until", type=Day(), help="Last of its dates (31 December of this year).")
@click.option("--seeds-only", is_flag=True, hidden=True)
@click.option(
    "-o", "--output", type=click.Choice(["wide"]), help="wide: every column, at full length."
)
def list_(
    which: str | None,
    since: date | None,
    until: date | None,
    seeds_only: bool,
    output: str | None,
) -> None:
    """Calendars: the tenants' and the seeds that everybody sees."""
    today = date.today()
    with as_asked() as conn:
        if which is not None:
            found = find(conn, "calendar", which)
            rows = conn.execute(
                "select d.date, pg_catalog.to_char(d.date, 'Dy') as weekday "
                "from lenses.fn_calendar_dates(%s, %s, %s) as d (date) order by 1",
                [found.id, since or date(today.year, 1, 1), until or date(today.year, 12, 31)],
            ).fetchall()
        else:
            rows = conn.execute(LIST.encode()).fetchall()
            rows = [row for row in rows if row["is_seed"] or not seeds_only]
    if which is not None:
        emit(rows, ["date", "weekday"])
    else:
        emit(rows, COLUMNS, view=views.calendars, is_wide=output == "wide")


@click.command(
    cls=taking("--name"),
    epilog="\b\nExamples:\n"
    "  lf-sql schedule calendar create closing --dates 2026-12-24,2026-12-31\n"
    "  lf-sql schedule calendar create mine --clone us-federal-holidays-2026\n"
    '  lf-sql schedule calendar create sundays --rules \'[{"weekdays": ["SUN"]}]\'',
)
@click.argument("name")
@click.option("--dates", "text", type=Filled(), help="2026-12-24,2026-12-31")
@click.option("--rules", type=Json(), help="Rules whose dates are in as well: JSON, @FILE.")
@click.option("--clone", help="Copy the dates of another.", shell_complete=complete("calendar"))
@KIND
@ZONE
def create(
    name: str, text: str | None, rules: str | None, clone: str | None, kind: str, timezone: str
) -> None:
    """Create a calendar; a slot's date is taken in the calendar's own zone."""
    if (text is None and rules is None) == (clone is None):
        raise click.UsageError("either --dates or --clone, or --rules")
    with as_tenant() as conn:
        source = id_of(conn, "calendar", clone)
        dates = days(text) if text is not None else None
        row = one(
            conn,
            "select c.* from public.fn_create_schedule_calendar("
            "%s, %s, %s, %s::date[], %s, %s::jsonb) as c",
            [name, kind, timezone, dates, source, rules],
        )
    brief(row, f"{len(row['dates'])} dates, {len(row['rules'])} rules")


@click.command(
    cls=taking("--calendar"),
    epilog="\b\nExample:\n  lf-sql schedule calendar attach 3f2a closing-days",
)
@ID
@click.argument("calendar", shell_complete=complete("calendar"))
def attach(schedule: str, calendar: str) -> None:
    """Let a calendar decide about the schedule's slots."""
    with installed() as conn:
        found = find(conn, "schedule", schedule)
        which = find(conn, "calendar", calendar, of=found)
        with acting(conn, found.user_id):
            row = one(
                conn,
                "select s.* from public.fn_set_schedule_calendar(%s, %s) as s",
                [found.id, which.id],
            )
    brief(row, "calendar attached")


@click.command(epilog="\b\nExample:\n  lf-sql schedule calendar detach 3f2a")
@ID
def detach(schedule: str) -> None:
    """Remove the calendar from a schedule."""
    with as_owner_of("schedule", schedule) as (conn, found):
        row = one(
            conn, "select s.* from public.fn_set_schedule_calendar(%s, null) as s", [found.id]
        )
    brief(row, "calendar detached")


@click.command(
    "import",
    epilog="\b\nExamples:\n"
    "  lf-sql schedule calendar import closing-days.ics --dry-run\n"
    "  lf-sql schedule calendar import --country US --years 2026-2030 --observed",
)
@click.argument("file", type=FilledPath(path_type=Path), required=False)
@click.option("--country", help="Public holidays of a country: US, TR, DE …")
@click.option("--subdivision", type=Filled(), help="Its state or province: CA, BY …")
@click.option("--years", help="2026, 2026-2030 or 2026,2028 (this year and the next).")
@click.option(
    "--observed/--actual",
    default=False,
    help="Also list days off in lieu (the Monday after).",
)
@click.option(
    "--language",
    type=Filled(),
    default="en_US",
    show_default=True,
    help="Language of the names.",
)
@click.option(
    "--name", type=Filled(), help="Of the calendar; one of that name gets these dates instead."
)
@KIND
@ZONE
@click.option("--dry-run", is_flag=True, help="Show the dates and store nothing.")
@yes_option
def import_(
    file: Path | None,
    country: str | None,
    subdivision: str | None,
    years: str | None,
    observed: bool,
    language: str,
    name: str | None,
    kind: str,
    timezone: str,
    dry_run: bool,
    yes: bool,
) -> None:
    """A calendar from an .ics file, or from a country's public holidays."""
    if (file is None) == (country is None):
        raise click.UsageError("either FILE.ics or --country")
    if file is not None and name is None and not is_utf8(file.stem):
        raise click.UsageError(f"{file.name!r} is not UTF-8: name the calendar with --name")
    span = public_holidays.years(years, date.today())
    if file is not None:
        with progress(f"reading {file.name}"):
            dates = ics.dates(file, span, timezone)
        name = name or file.stem
    else:
        with progress(f"holidays of {country}"):
            dates = public_holidays.dates(str(country), subdivision, span, observed, language)
        name = name or "-".join(
            ["holidays", str(country), subdivision or "", str(span[0]), str(span[-1])]
        ).lower().replace("--", "-")
    shown = [{"date": d, "weekday": d.strftime("%a"), "name": what} for d, what in dates.items()]
    emit(shown, ["date", "weekday", "name"])
    if dry_run:
        note(f"{len(dates)} dates; nothing is stored (--dry-run)")
        return
    if sys.stdin.isatty() and is_for_a_person():
        ask(f"Store these {len(dates)} dates as calendar {name}?", yes)
    with as_tenant() as conn:
        old = conn.execute(
            "select c.id from lenses.schedule_calendars as c where c.name = %s and not c.is_seed",
            [name],
        ).fetchone()
        values = [name, kind, timezone, list(dates)]
        if old:
            row = one(
                conn,
                "select c.* from public.fn_update_schedule_calendar("
                "%s, p_name => %s, p_kind => %s, p_timezone => %s, p_dates => %s::date[]) as c",
                [old["id"], *values],
            )
        else:
            row = one(
                conn,
                "select c.* from public.fn_create_schedule_calendar(%s, %s, %s, %s::date[]) as c",
                values,
            )
    note(f"{row['id']} {'updated' if old else 'created'}: {name}, {len(dates)} dates")


group = SuggestingGroup(
    "calendar",
    help="Dates on which slots are skipped, or the only ones that count.",
    epilog="\b\nExamples:\n  lf-sql schedule calendar list\n"
    "  lf-sql schedule calendar import --country US --years 2026-2030",
    commands=[list_, show, create, update, delete, attach, detach, import_],
)
