"""What a tenant with a day behind him does in the console, in one browser over one database."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from playwright.sync_api import Locator, expect

from tests.console.conftest import Console, Window
from tests.console.scene import FREE, make_schedule
from tests.support.database import as_user, wait_until

Scene = tuple[Console, Window]


@pytest.fixture(autouse=True)
def quiet(scene: Scene) -> None:
    """No error in the browser before a test; a refusal that is asked for is none."""
    scene[1].troubles.clear()


def row_of(window: Window, name: str) -> Locator:
    named = window.page.get_by_role("link", name=name, exact=True)
    return window.page.locator("[data-row]").filter(has=named).first


def status_of(console: Console, name: str) -> bool:
    return bool(
        console.db.value("select is_active from lenses.workflow_schedules where name = %s", [name])
    )


def test_a_paused_row_stays_and_a_second_click_on_it_is_no_click(scene: Scene) -> None:
    console, window = scene
    page = window.open("/")
    names = page.locator("tbody .c-resource a").all_inner_texts()
    row = row_of(window, "probe")
    place = names.index("probe")
    posts: list[str] = []
    page.on("request", lambda sent: posts.append(sent.url) if sent.method == "POST" else None)
    # As soon as the row has changed, the button that stands in the place of the other is pressed.
    page.evaluate(
        "document.addEventListener('htmx:after:swap', () => {"
        "const again = document.querySelector('[aria-label=\"Resume probe\"]');"
        "if (again && !document.body.dataset.clicked) {"
        "again.click(); document.body.dataset.clicked = 'yes'; } })"
    )
    row.get_by_role("button", name="Pause probe").click()
    expect(page.locator("body[data-clicked]")).to_have_count(1)
    expect(page.locator("tbody tr").nth(place).locator(".c-status")).to_have_text("paused")
    assert page.locator("tbody .c-resource a").all_inner_texts() == names
    assert not status_of(console, "probe")
    expect(page.locator(".summary .push")).to_be_visible()

    toast = page.locator(".toast", has_text="Paused “probe”.")
    toast.get_by_role("button", name="Undo").click()
    expect(row.locator(".c-status")).to_have_text("enabled")
    assert status_of(console, "probe")
    window.settle()
    row.get_by_role("button", name="Delete probe").click()
    expect(page.get_by_role("dialog")).to_contain_text("Delete “probe”")
    page.get_by_role("button", name="Cancel").click()
    assert [url.rsplit("/", 1)[1] for url in posts] == ["pause", "resume"]
    assert window.troubles == []


def test_the_last_run_is_its_status_and_since_when(scene: Scene) -> None:
    """As LAST of lf-sql schedule list: of a run that is over its end, not its start."""
    console, window = scene
    db = console.db
    named = "from lenses.workflow_schedules where name = 'report-16'"
    with as_user(db, console.owner):
        run_id = db.value(f"select (public.fn_run_workflow_schedule_now(id)).id {named}")
    given = f"array(select workflow_id {named})"
    db.execute(f"select lenses.fn_claim_workflow_runs('w', 1, p_workflow_ids => {given})")
    db.execute("select lenses.fn_complete_workflow_run(%s, 'w', '{}')", [run_id])
    ended = db.row("select * from lenses.workflow_runs where id = %s", [run_id])
    assert ended.completed_at > ended.created_at
    window.open("/?q=report-16")
    last = row_of(window, "report-16").locator(".c-last")
    expect(last.locator(".pill")).to_have_text("completed")
    expect(last).to_contain_text(" ago")
    shown = last.locator("time").get_attribute("datetime")
    assert shown == f"{ended.completed_at.astimezone(UTC):%Y-%m-%dT%H:%M:%S.%fZ}"


def test_a_run_by_hand_is_the_last_run_and_marked(scene: Scene) -> None:
    console, window = scene
    page = window.open("/?q=report-08")
    row = row_of(window, "report-08")
    row.get_by_role("button", name="Run report-08 now").click()
    page.get_by_role("dialog").get_by_role("button", name="Run now").click()
    last = row.locator(".c-last")
    expect(last.locator(".pill")).to_have_text("pending")
    expect(last).to_contain_text("ago, manual")
    schedule_id = console.db.value(
        "select id from lenses.workflow_schedules where name = 'report-08'"
    )
    window.open(f"/schedules/{schedule_id}")
    expect(page.locator("dl", has_text="Last run")).to_contain_text(", manual")


def test_undo_of_a_resume_pauses_as_it_was(scene: Scene) -> None:
    console, window = scene
    before = console.db.row(
        "select pause_note, date_trunc('second', paused_until) from lenses.workflow_schedules "
        "where name = 'report-07'"
    )
    page = window.open("/?q=report-07")
    row = row_of(window, "report-07")
    row.get_by_role("button", name="Resume report-07").click()
    expect(row.locator(".c-status")).to_have_text("enabled")
    page.locator(".toast").get_by_role("button", name="Undo").click()
    expect(row.locator(".c-status")).to_have_text("paused")
    assert before == console.db.row(
        "select pause_note, date_trunc('second', paused_until) from lenses.workflow_schedules "
        "where name = 'report-07'"
    )


def test_runs_are_found_and_one_is_retried(scene: Scene) -> None:
    console, window = scene
    page = window.open("/runs")
    failing = page.locator(".failing")
    expect(failing.get_by_role("heading")).to_contain_text("Failed in the last 24 hours")
    expect(failing.locator("tbody tr").first).to_contain_text("provider error")
    with page.expect_response("**/runs?**status=failed**"):
        page.get_by_label("Status").select_option("failed")
    expect(page.locator(".failing")).to_have_count(0)
    failed = console.db.value(
        "select count(*) from lenses.workflow_runs where status = 'failed' and created_at < now()"
    )
    expect(page.locator("tbody tr")).to_have_count(failed)
    window.settle()
    page.locator("tbody a.strong").first.click()
    expect(page.locator(".events")).to_contain_text("run.failed")
    expect(page.locator(".note.bad pre")).to_contain_text("the provider answered 503")
    expect(page.locator(".attempts tbody tr")).to_have_count(1)
    run_id = page.url.rsplit("/", 1)[1]
    page.get_by_role("button", name="Retry").click()
    page.get_by_role("dialog").get_by_role("button", name="Retry").click()
    expect(page.locator("h1 .pill")).to_have_text("pending")
    status = "select status from lenses.workflow_runs where id = %s"
    assert console.db.value(status, [run_id]) == "pending"
    window.settle()
    page.get_by_role("button", name="Cancel the run of").click()
    page.get_by_role("dialog").get_by_role("button", name="Cancel the run").click()
    expect(page.locator("h1 .pill")).to_have_text("cancelled")
    assert window.troubles == []


def test_many_are_decided_with_one_note(scene: Scene) -> None:
    console, window = scene
    approved = console.db.value(
        "select id from lenses.workflow_schedules where name = 'approve-me'"
    )
    page = window.open(f"/approvals?schedule={approved}")
    rows = page.locator(".picks li")
    total = rows.count()
    assert total >= 3
    bar = page.locator(".bulk").first
    expect(bar.get_by_role("button", name="Approve")).to_be_disabled()
    rows.nth(0).get_by_role("checkbox").check()
    rows.nth(1).get_by_role("checkbox").check()
    expect(bar).to_contain_text(f"2 of {total} picked")
    page.get_by_label("Note for all that are picked").fill("quarter end")
    bar.get_by_role("button", name="Approve").click()
    expect(page.locator(".toast", has_text="Approved 2 runs.")).to_be_visible()
    expect(rows).to_have_count(total)
    expect(rows.nth(0).locator(".outcome")).to_contain_text("approved")
    expect(rows.nth(1).locator(".outcome")).to_contain_text("quarter end")
    decided = console.db.rows(
        "select t.approval_status, t.note from agents.team_runs as t "
        "join lenses.workflow_runs as r on r.id = t.workflow_run_id "
        "join lenses.workflow_schedules as s on s.id = r.schedule_id "
        "where t.approval_status <> 'pending' and s.name = 'approve-me'"
    )
    assert [tuple(row) for row in decided] == [("approved", "quarter end")] * 2
    window.settle()
    rows.nth(2).get_by_role("button", name="Reject the run of approve-me").click()
    expect(rows.nth(2).locator(".outcome")).to_contain_text("rejected")
    assert window.troubles == []


def test_all_that_wait_are_decided_but_none_that_came_later(scene: Scene) -> None:
    console, window = scene
    make_schedule(console.db, console.owner, "Bulk", cron_expr="0 5 * * *", name="bulk")
    with as_user(console.db, console.owner):
        schedule_id = console.db.value(
            "select id from lenses.workflow_schedules where name = 'bulk'"
        )
        for _ in range(81):
            console.db.execute("select public.fn_run_workflow_schedule_now(%s)", [schedule_id])
    page = window.open(f"/approvals?schedule={schedule_id}")
    expect(page.locator(".picks li")).to_have_count(80)
    with as_user(console.db, console.owner):
        late = console.db.value(
            "select id from public.fn_run_workflow_schedule_now(%s)", [schedule_id]
        )
    page.get_by_role("button", name="Reject all").click()
    page.get_by_role("dialog").get_by_role("button", name="Reject all").click()
    expect(page.locator(".toast", has_text="Rejected 81 runs.")).to_be_visible()
    waiting = console.db.column(
        "select id from lenses.workflow_runs "
        "where schedule_id = %s and status = 'pending_approval'",
        [schedule_id],
    )
    assert waiting == [late]


def test_a_calendar_is_made_and_changed(scene: Scene) -> None:
    console, window = scene
    page = window.open("/calendars")
    expect(row_of(window, "company-days")).to_contain_text("1 schedule")
    page.get_by_role("link", name="New calendar").click()
    page.wait_for_load_state()  # what "Add a rule" does comes with the script
    page.get_by_label("Name").fill("closing days")
    page.get_by_label("Dates", exact=True).fill("2026-12-24, 2026-12-31")
    page.get_by_label("Add a rule").select_option(label="The last Monday of May")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("heading", name="closing days")).to_be_visible()
    expect(page.locator(".plain-list").first).to_contain_text("the last Monday of May")
    expect(page.locator("i.skip_dates[title^='Thu 24 Dec 2026']")).to_have_count(1)
    page.get_by_role("link", name="Edit").click()
    page.get_by_label("Rules, JSON").fill('[{"weekdays": ["FUNDAY"]}]')
    page.get_by_role("button", name="Save").click()
    expect(page.locator("[data-field=rules] .error")).to_contain_text("FUNDAY")
    page.get_by_label("Rules, JSON").fill('[{"easter": -2}]')
    page.get_by_role("button", name="Save").click()
    expect(page.locator(".plain-list").first).to_contain_text("2 days before Easter Sunday")
    stored = console.db.row(
        "select rules, dates, timezone from lenses.schedule_calendars where name = 'closing days'"
    )
    assert stored.rules == [{"easter": -2}]
    assert [str(day) for day in stored.dates] == ["2026-12-24", "2026-12-31"]
    assert stored.timezone == "Europe/Istanbul"


def test_the_builder_shows_what_changes_and_writes_only_that(scene: Scene) -> None:
    console, window = scene
    schedule_id, before = console.db.row(
        "select id, to_jsonb(s) from lenses.workflow_schedules as s where name = 'only-if'"
    )
    page = window.open(f"/builder/{schedule_id}")
    expect(page.locator(".changes")).to_contain_text("Nothing yet.")
    expect(page.locator("#try .pill")).to_have_text("does not hold now: a slot would be skipped")
    page.get_by_label("Condition, a JSON object").fill('{"/last_24h_stats/failed": {"lt": 1000}}')
    expect(page.locator("#try .pill")).to_have_text("holds now: a slot would run")
    page.get_by_label("Jitter, ±").fill("5 mins or so")
    expect(page.locator("[data-field=jitter_ms] .error")).to_contain_text("no duration")
    page.get_by_label("Jitter, ±").fill("5 min")
    page.get_by_label("If one is still running").select_option("queue")
    changes = page.locator(".changes dl")
    expect(changes).to_contain_text("Jitter")
    expect(changes).to_contain_text("± 5m")
    expect(changes).to_contain_text("If one is still running")
    window.settle()
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("heading", name="only-if")).to_be_visible()
    after = console.db.value(
        "select to_jsonb(s) from lenses.workflow_schedules as s where id = %s", [schedule_id]
    )
    changed = {key for key in after if after[key] != before[key]}
    assert changed >= {"jitter_ms", "queue_policy", "pre_dispatch_condition"}
    assert changed <= {
        "jitter_ms", "queue_policy", "pre_dispatch_condition", "updated_at", "due_at", "next_run_at",
        "on_overlap", "last_error_at", "last_error_message",
    }  # fmt: skip
    assert after["jitter_ms"] == 300_000


def test_a_single_run_is_built(scene: Scene) -> None:
    console, window = scene
    page = window.open("/builder")
    page.get_by_label("Workflow", exact=True).select_option(label="a new workflow…")
    page.get_by_label("Title of the new workflow").fill("Fireworks")
    page.get_by_label("Name").fill("new-year")
    page.get_by_label("Once", exact=True).check()
    page.get_by_label("Runs at", exact=True).fill("2027-01-01T00:00")
    expect(page.locator("#preview .english")).to_have_text("Once, and never again")
    window.settle()
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("heading", name="new-year")).to_be_visible()
    at = console.db.value(
        "select run_at = timestamptz '2027-01-01 00:00+03' "
        "from lenses.workflow_schedules where name = 'new-year'"
    )
    assert at


def test_the_timeline_says_why_and_the_load_leads_to_it(scene: Scene) -> None:
    console, window = scene
    # The day of a slot that failed, which is yesterday's where the viewer's midnight has just passed.
    failed = console.db.value(
        "select r.scheduled_for from lenses.workflow_runs as r "
        "join lenses.workflow_schedules as s on s.id = r.schedule_id "
        "where s.name = 'probe' and r.status = 'failed' order by 1 desc limit 1"
    )
    page = window.open(f"/timeline?q=probe&at={failed:%Y-%m-%dT%H:%M}Z")
    line = row_of(window, "probe")
    expect(line.locator("a.good, a.bad").first).to_be_visible()
    line.locator("a.bad").first.click()
    why = page.locator("#why")
    expect(why).to_contain_text("fired")
    expect(why.get_by_role("link", name="the run")).to_be_visible()
    expect(why.locator(".guards li")).not_to_have_count(0)
    why.get_by_role("button", name="Close").click()
    expect(why).to_be_hidden()

    window.open("/load")
    page.locator(".heat td a").last.click()
    expect(page.locator(".tabs [aria-current]")).to_have_text("hour")
    expect(row_of(window, "probe").locator("a.ahead")).to_have_count(4)

    make_schedule(console.db, console.owner, "Busy", cron_expr="* * * * *", name="busy")
    tomorrow = datetime.now(UTC) + timedelta(days=1)
    window.open(f"/timeline?q=busy&at={tomorrow:%Y-%m-%dT%H:%M}Z")
    expect(row_of(window, "busy").locator("a.ahead")).to_have_count(96)
    assert window.troubles == []


def test_any_minute_is_explained_on_a_schedules_page(scene: Scene) -> None:
    console, window = scene
    schedule_id = console.db.value(
        "select id from lenses.workflow_schedules where name = 'nightly'"
    )
    page = window.open(f"/schedules/{schedule_id}")
    page.locator("input[name=wall]").fill("2030-01-01T12:34")
    page.get_by_role("button", name="Explain").click()
    expect(page.locator("#why .because")).to_contain_text("minute wants 0, it is 34")
    page.keyboard.press("Escape")
    expect(page.locator("#why")).to_be_hidden()
    wall = page.locator(".ticks time[data-form=wall]").first
    expect(wall).to_contain_text("02:00 Berlin")


def test_a_schedule_s_calendar_has_the_next_year_s_dates_too(scene: Scene) -> None:
    console, window = scene
    schedule_id = console.db.value(
        "select id from lenses.workflow_schedules where name = 'market-brief'"
    )
    first = date(datetime.now(ZoneInfo("Europe/Istanbul")).year + 1, 1, 1)
    sunday = first + timedelta(days=6 - first.weekday())
    page = window.open(f"/schedules/{schedule_id}")
    expect(page.locator(f"i.skip_dates[title^='{sunday:%a %d %b %Y}']")).to_have_count(1)


def test_the_keyboard_reaches_rows_pages_and_help(scene: Scene) -> None:
    console, window = scene
    make_schedule(
        console.db, console.owner, "A", cron_expr="0 5 * * *", name="aa-1", approval_policy=FREE
    )
    make_schedule(
        console.db, console.owner, "B", cron_expr="0 6 * * *", name="aa-2", approval_policy=FREE
    )
    page = window.open("/?q=aa-&sort=name")
    page.keyboard.press("j")
    page.keyboard.press("j")
    expect(page.get_by_role("link", name="aa-2", exact=True)).to_be_focused()
    page.keyboard.press("p")
    expect(row_of(window, "aa-2").locator(".c-status")).to_have_text("paused")
    assert status_of(console, "aa-1")
    page.keyboard.press("k")
    page.keyboard.press("r")
    expect(page.get_by_role("dialog")).to_contain_text("Run “aa-1” now?")
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keys")).to_be_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("Control+k")
    page.get_by_label("Go to", exact=True).last.fill("calen")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Calendars")).to_be_visible()


def test_health_has_buttons_where_it_has_commands(scene: Scene) -> None:
    console, window = scene
    make_schedule(
        console.db, console.owner, "C", cron_expr="0 5 * * *", name="asleep", approval_policy=FREE
    )
    with as_user(console.db, console.owner):
        console.db.execute(
            "select public.fn_pause_workflow_schedule(id) from lenses.workflow_schedules "
            "where name = 'asleep'"
        )
    page = window.open("/health")
    expect(page.get_by_role("link", name="What its next slots come to").first).to_be_visible()
    expect(page.locator("body")).not_to_contain_text("lf-sql schedule preview")
    first = page.locator(".checks a.strong", has_text="launch: its first slot comes at")
    expect(first.locator("time")).to_have_count(1)
    expect(first).not_to_contain_text("UTC")
    over = page.locator(".checks a.strong", has_text="report-07")
    expect(over.locator("small time[data-form=wall]")).to_contain_text("UTC")
    page.get_by_role("button", name="Resume: asleep").click()
    page.get_by_role("dialog").get_by_role("button", name="Resume").click()
    wait_until(lambda: status_of(console, "asleep"))
    expect(page.locator(".toast", has_text="Resumed “asleep”.")).to_be_visible()
