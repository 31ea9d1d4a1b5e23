"""lf-sql demo: yesterday in a minute, on a server that is gone afterwards."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime, time
from zoneinfo import ZoneInfo

import click

from lf_sql import db, embedded
from lf_sql.cli.progress import progress
from lf_sql.cli.schedule.health import show as show_health
from lf_sql.cli.terminal.table import of_names, show
from lf_sql.demo import plans, scene, work
from lf_sql.errors import LfSqlError

WIDTH = 80


@click.command(epilog="\b\nExamples:\n  lf-sql demo\n  lf-sql demo --keep")
@click.option(
    "--keep", is_flag=True, help="Stay up until Ctrl-C; print the DSN and the console's address."
)
def command(keep: bool) -> None:
    """Start a server of its own, play yesterday, wait for a real minute, and remove it."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that the server is stopped
    build = embedded.find_build()
    with ExitStack() as stack:
        server = stack.enter_context(started(build))
        conn = stack.enter_context(db.connect(server.dsn()))
        stage = scene.Scene(conn)
        with progress("  installing") as going:
            seconds = stage.install(going.say)
        say("A server of its own plays yesterday, then waits for a real minute.")
        say(f"PostgreSQL {build.major} of {build.origin}; lf-sql installed in {seconds:.1f} s.")
        tell_schedules(stage)
        tell_play(stage)
        has_pg_cron = bool(stage.start_pg_cron().registered)
        if not has_pg_cron:
            stack.enter_context(work.ticking(server.dsn()))
        stack.enter_context(work.executing(server.dsn()))
        tell_work(stage)
        tell_causes(stage)
        tell_clocks(stage)
        tell_real_minute(stage, "pg_cron" if has_pg_cron else "lf-sql worker")
        tell_health(stage)
        if keep:
            stay_up(server.dsn(), stage)
    say("\nThe server is stopped and gone.")


@contextmanager
def started(build: embedded.Build) -> Iterator[embedded.Server]:
    """The server, up; it ends with the block."""
    server = embedded.Server(build, scene.settings(build))
    with ExitStack() as stack:
        with progress("  starting the server"):
            stack.enter_context(server)
        yield server


def tell_schedules(stage: scene.Scene) -> None:
    title("Seven schedules of one tenant")
    what = {plan.name: plan.says for plan in plans.PLANS}
    rows = [
        {
            "schedule": row["name"],
            "when": row["means"],
            "zone": row["timezone"],
            "what to watch": what[row["name"]],
        }
        for row in stage.make_schedules()
    ]
    show_rows(rows, "schedule", "when", "zone", "what to watch")


def tell_play(stage: scene.Scene) -> None:
    title(f"Yesterday, {stage.day:%A %-d %B %Y}, and today until now, in UTC")
    times = stage.ticks()
    with progress("  playing", length=len(times)) as going:
        seconds = stage.play(times, going.step)
    say(f"{len(times)} ticks, one for every ten minutes, played in {seconds:.1f} s. From 14:05 to")
    say("14:35 nobody ticked: an outage. What became of yesterday's slots:\n")


def tell_work(stage: scene.Scene) -> None:
    with progress("  working"):
        stage.settled()
    show_rows(
        [
            {
                "schedule": row["name"],
                "slots": row["slots"],
                "became": spoken(row["reason"]),
                "first": hour(row["first"]),
                "last": hour(row["last"]),
            }
            for row in stage.outcomes()
        ],
        "schedule",
        "slots",
        "became",
        "first",
        "last",
    )
    say("\nAn executor completed the runs: a Python function for each kind of work.")


def tell_causes(stage: scene.Scene) -> None:
    title("Why")
    begin, end = (datetime.combine(stage.day.date(), at, UTC) for at in plans.OUTAGE)
    for row in stage.late(begin, end):
        made = f"1 run, for {hour(row['run_of'])}" if row["runs"] else "no run"
        because = "onMissed: run_once" if row["runs"] else "onMissed: skip, the default"
        total = row["runs"] + row["skipped"]
        slots = "slot" if total == 1 else "slots"
        say(f"{row['name']:<10}  {total} {slots} of the outage: {made} ({because})")
    slot = datetime.combine(stage.day.date(), time(8, 30), ZoneInfo("America/New_York"))
    told = stage.explained("brief", slot)
    say(f"brief       {told['because']}")
    for row in stage.attempts():
        said = f': "{row["error"]}"' if row["error"] else ""
        say(f"ledger      attempt {row['attempt']} {row['outcome']}{said}")
    note = "the sums are right"
    count = stage.approve(note)
    with progress("  working"):
        stage.settled()
    say(f'invoices    {count} run approved with the note "{note}", then completed')


def tell_clocks(stage: scene.Scene) -> None:
    turn, is_forward = plans.next_turn(plans.BACKUP.zone, stage.midnight.date())
    how = "02:30 does not come" if is_forward else "02:30 comes twice"
    title(f"The next clock change: on {turn:%-d %B %Y} {how} in Berlin")
    for row in stage.nights(turn):
        local, utc = ", ".join(row["wall_times"]), hour(row["first_at"])
        say(f"backup      {row['day']:%a %-d %b}  at {local}, {utc} UTC")


def tell_real_minute(stage: scene.Scene, driver: str) -> None:
    title("Now for real: a schedule for every minute")
    with progress("  waiting for the next minute"):
        run = stage.real_minute(plans.EVERY_MINUTE)
    made = (run["made_at"] - run["slot"]).total_seconds() * 1000
    done = (run["completed_at"] - run["slot"]).total_seconds() * 1000
    say(f"heartbeat   {run['slot']:%H:%M:%S} UTC: a run, made by {driver} after {made:.0f} ms,")
    say(f"            {run['status']} by the executor after {done:.0f} ms")


def tell_health(stage: scene.Scene) -> None:
    title("Health, as `lf-sql schedule health` says it")
    for line in stage.health():
        show_health(line, WIDTH)


def stay_up(dsn: str, stage: scene.Scene) -> None:
    """Until Ctrl-C, with the console where its packages are here."""
    from lf_sql.cli.console import serving

    title("Staying up until Ctrl-C")
    say(f"export LF_SQL_DSN='{dsn}'")
    say("lf-sql schedule list")
    try:
        with serving(dsn, stage.user_id, "127.0.0.1", 0) as served:
            say(f"\nThe console, at an address that works once:\n{served.link}")
            served.run()
    except LfSqlError as error:
        say(f"\nno console: {error.message}; {error.hint}")
        wait_for_the_end()


def wait_for_the_end() -> None:
    try:
        threading.Event().wait()
    except KeyboardInterrupt:
        return


def spoken(status: str) -> str:
    """What a slot became: `run, completed` or `skipped: calendar`."""
    if status in ("missed", "calendar"):
        return f"skipped: {status}"
    return f"run, {status.replace('_', ' ')}"


def hour(at: datetime) -> str:
    return f"{at.astimezone(UTC):%H:%M}"


def title(text: str) -> None:
    say("\n" + click.style(text, bold=True) + "\n")


def show_rows(rows: Sequence[scene.Row], *columns: str) -> None:
    show(rows, of_names(columns, rows))
    sys.stdout.flush()


def say(line: str) -> None:
    click.echo(line)
    sys.stdout.flush()
