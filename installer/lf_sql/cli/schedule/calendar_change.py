"""lf-sql schedule calendar show, update, delete."""

from __future__ import annotations

from datetime import date

import click

from lf_sql.cli.candidates import complete, zones
from lf_sql.cli.context import emit_one, is_for_a_person, options
from lf_sql.cli.lookup import Found
from lf_sql.cli.params import Filled, Json
from lf_sql.cli.schedule.change import brief
from lf_sql.cli.session import as_asked, as_owner_of, find, installed, one
from lf_sql.cli.terminal import record
from lf_sql.cli.terminal.ask import ask, yes_option
from lf_sql.errors import LfSqlError

SHOW = """
select
  c.id, c.name, c.kind, c.timezone, c.dates, c.rules, c.is_seed, array(
    select coalesce(s.name, s.description, w.title, s.id::text)
    from lenses.workflow_schedules as s
    left join lenses.workflows as w on w.id = s.workflow_id
    where s.calendar_id = c.id order by 1) as schedules
from lenses.schedule_calendars as c
where c.id = %s
"""
KINDS = {"skip_dates": "slots on these dates are skipped", "only_dates": "all others are skipped"}
CALENDAR = click.argument("calendar", shell_complete=complete("calendar"))


def days(text: str) -> list[date]:
    """Dates separated by commas or blanks."""
    found = []
    for word in text.replace(",", " ").split():
        try:
            found.append(date.fromisoformat(word))
        except ValueError:
            raise click.BadParameter(f"{word!r} is no date: write 2026-12-25,2026-12-26") from None
    return found


def own(found: Found, name: str) -> None:
    """Raise where it is a seed, which has no owner."""
    if found.user_id is None:
        raise LfSqlError(
            f"{name!r} is a seed: everybody sees it, and nobody changes it",
            f"change a copy: lf-sql schedule calendar create NAME --clone {name}",
        )


@click.command(epilog="\b\nExample:\n  lf-sql schedule calendar show closing-days")
@CALENDAR
def show(calendar: str) -> None:
    """One calendar: its dates, its rules, and the schedules that have it."""
    with as_asked() as conn:
        found = find(conn, "calendar", calendar)
        row = one(conn, SHOW, [found.id])
    if not is_for_a_person():
        emit_one(row)
        return
    record.show(
        {
            "calendar": row["name"],
            "id": str(row["id"]),
            "kind": KINDS[row["kind"]],
            "zone": row["timezone"],
            "dates": ", ".join(map(str, row["dates"])),
            "rules": row["rules"],
            "used by": ", ".join(row["schedules"]) or "no schedule",
            "seed": "yes: everybody sees it, nobody changes it" if row["is_seed"] else None,
        }
    )


@click.command(
    epilog="\b\nExamples:\n"
    "  lf-sql schedule calendar update closing-days --dates 2026-12-24,2026-12-31\n"
    "  lf-sql schedule calendar update closing-days --add 2027-01-02 --name closed"
)
@CALENDAR
@click.option("--name", help="Its new name.")
@click.option("--dates", "text", help="All its dates from now on: 2026-12-24,2026-12-31.")
@click.option("--add", type=Filled(), help="Dates to add to those it has.")
@click.option("--rules", type=Json(), help="All its rules from now on: JSON, @FILE.")
@click.option("--kind", type=click.Choice(["skip_dates", "only_dates"]), help="What it does.")
@click.option("--tz", "--timezone", "timezone", help="Zone of its dates.", shell_complete=zones)
def update(
    calendar: str,
    name: str | None,
    text: str | None,
    add: str | None,
    rules: str | None,
    kind: str | None,
    timezone: str | None,
) -> None:
    """Change a calendar; options that are left out change nothing."""
    if text is not None and add is not None:
        raise click.UsageError("either --dates or --add")
    if all(value is None for value in (name, text, add, rules, kind, timezone)):
        raise click.UsageError("say what to change: --dates, --add, --rules, --name, --kind, --tz")
    dates = days(text) if text is not None else days(add) if add is not None else None
    with as_owner_of("calendar", calendar) as (conn, found):
        own(found, calendar)
        row = one(
            conn,
            "select u.* from lenses.schedule_calendars as c "
            "cross join lateral public.fn_update_schedule_calendar(c.id, %(name)s, %(kind)s, "
            "%(timezone)s, case when %(is_more)s then c.dates || %(dates)s::date[] "
            "else %(dates)s::date[] end, %(rules)s::jsonb) as u where c.id = %(id)s",
            {
                "id": found.id,
                "name": name,
                "kind": kind,
                "timezone": timezone,
                "dates": dates,
                "is_more": add is not None,
                "rules": rules,
            },
        )
    brief(row, f"{len(row['dates'])} dates, {len(row['rules'])} rules")


@click.command(epilog="\b\nExample:\n  lf-sql schedule calendar delete closing-days --yes")
@CALENDAR
@yes_option
def delete(calendar: str, yes: bool) -> None:
    """Delete a calendar that no schedule has."""
    with installed() as conn:
        found = find(conn, "calendar", calendar)
        own(found, calendar)
    ask(f"Delete the calendar {calendar}?", yes)
    with as_owner_of("calendar", str(found.id)) as (conn, found):
        conn.execute("select public.fn_delete_schedule_calendar(%s::uuid)", [found.id])
    if options().as_json:
        emit_one({"id": found.id, "deleted": True})
    else:
        click.echo(f"{found.id}\tdeleted")
