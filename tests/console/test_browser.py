"""The console as a person uses it, in a headless Chromium."""

from __future__ import annotations

import uuid
from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from tests.console.conftest import Console, Window
from tests.support.database import Database, as_user, connect, wait_until
from tests.support.server import TestServer


def make_schedule(console: Console, title: str = "Digest", **arguments: object) -> uuid.UUID:
    named = "".join(f", p_{name} => %s" for name in arguments)
    with as_user(console.db, console.owner):
        workflow_id = console.db.value(
            "select id from public.fn_upsert_workflow(p_title => %s)", [title]
        )
        return console.db.value(
            f"select id from public.fn_upsert_workflow_schedule(%s{named})",
            [workflow_id, *arguments.values()],
        )


def test_build_save_pause_resume_preview_approve(
    db: Database, console: Console, window: Window
) -> None:
    page = window.page
    expect(page.get_by_role("heading", name="No schedules yet")).to_be_visible()
    window.shot("observe-empty")

    page.get_by_role("link", name="New schedule").click()
    page.get_by_label("Title of the new workflow").fill("Weekday digest")
    page.get_by_role("button", name="Weekend").click()
    expect(page.locator("#preview .big")).to_have_text("0 9 * * 0,6")
    page.get_by_role("button", name="Weekdays").click()
    page.get_by_label("Time", exact=True).fill("08:45")
    expect(page.locator("#preview .big")).to_have_text("45 8 * * 1-5")
    expect(page.locator("#preview .english")).to_have_text("At 08:45, Monday through Friday")
    expect(page.locator("#preview tbody tr")).to_have_count(5)
    expect(page.locator("#preview tbody tr").last).to_contain_text("08:45")
    expect(page.get_by_label("Time zone")).to_have_value("Europe/Istanbul")
    window.shot("builder")
    page.get_by_role("button", name="Save").click()

    expect(page.get_by_role("heading", name="Weekday digest")).to_be_visible()
    expect(page.locator(".ticks li")).to_have_count(10)
    expect(page.locator(".ticks li").first).to_contain_text("08:45")
    expect(page.locator(".ticks li").first).to_contain_text("dispatch")
    stored = db.row("select cron_expr, timezone, is_active from lenses.workflow_schedules")
    assert stored == ("45 8 * * 1-5", "Europe/Istanbul", True)

    page.get_by_role("link", name="Observe", exact=True).first.click()
    row = page.locator("tbody tr", has_text="Weekday digest")
    expect(row).to_contain_text("45 8 * * 1-5")
    expect(row).to_contain_text("At 08:45, Monday through Friday")
    expect(row.locator(".c-next")).to_contain_text("08:45")
    expect(row.locator(".c-next small")).to_contain_text("in ")
    row.get_by_role("button", name="Pause").click()
    expect(row.locator(".c-status")).to_have_text("paused")
    assert db.value("select paused_at from lenses.workflow_schedules") is not None
    window.shot("observe-paused")
    window.settle()
    row.get_by_role("button", name="Resume").click()
    expect(row.locator(".c-status")).to_have_text("enabled")

    window.settle()
    row.get_by_role("button", name="Run").click()
    page.get_by_role("dialog").get_by_role("button", name="Run now").click()
    expect(page.get_by_role("link", name="1 run waits for your approval")).to_be_visible()
    window.settle()
    row.get_by_role("link", name="Weekday digest").click()
    expect(page.get_by_role("heading", name="Waiting for your approval")).to_be_visible()
    window.shot("schedule-waiting")
    page.get_by_placeholder("Note (optional)").fill("looks good")
    window.settle()
    page.get_by_role("button", name="Approve").click()
    expect(page.get_by_role("heading", name="Waiting for your approval")).to_be_hidden()
    decided = db.row(
        "select r.status, t.approval_status, t.decided_by, t.note "
        "from lenses.workflow_runs r join agents.team_runs t on t.workflow_run_id = r.id"
    )
    assert decided == ("pending", "approved", console.owner.id, "looks good")
    expect(page.locator("table.runs tbody tr").first).to_contain_text("pending")
    window.shot("schedule")


def test_bad_input_stands_beside_its_field(console: Console, window: Window) -> None:
    page = window.open("/builder")
    page.get_by_label("Expression", exact=True).check()
    field = page.get_by_label("Cron expression")
    expect(field).to_have_value("0 9 * * 1-5")
    field.fill("0 9 * * FRI-MON")
    error = page.locator("[data-field=cron_expr] .error:visible")
    expect(error).to_contain_text('"0 9 * * FRI-MON"')
    expect(error.locator("span")).to_contain_text("FRI,SAT,SUN,MON")
    expect(field).to_have_attribute("aria-invalid", "true")
    window.shot("builder-error")
    field.fill("0 9 * * FRI")
    expect(error).to_be_hidden()
    page.get_by_label("Time zone").fill("UTC+8")
    expect(page.locator("[data-field=timezone] .error")).to_contain_text('"UTC+8"')
    page.get_by_label("Time zone").fill("Asia/Tokyo")
    expect(page.locator("[data-field=timezone] .error")).to_be_hidden()
    page.get_by_label("Inputs, a JSON object").fill("{broken")
    page.get_by_role("button", name="Save").click()
    expect(page.locator("[data-field=inputs_template] .error")).to_contain_text("not JSON")
    page.get_by_label("Interval", exact=True).check()
    page.get_by_label("Every", exact=True).fill("1")
    page.get_by_label("Inputs, a JSON object").fill("{}")
    page.get_by_role("button", name="Save").click()
    expect(page.locator("[data-field=interval_ms] .error")).to_contain_text("300000")
    assert console.db.value("select count(*) from lenses.workflow_schedules") == 0
    assert console.db.value("select count(*) from lenses.workflows") == 0
    window.troubles[:] = [text for text in window.troubles if "422" not in text]


def test_a_schedule_is_edited_in_place(console: Console, window: Window) -> None:
    schedule_id = make_schedule(console, cron_expr="0 9 * * *", description="old")
    page = window.open(f"/schedules/{schedule_id}")
    page.get_by_role("link", name="Edit").click()
    expect(page.get_by_label("Cron expression")).to_have_value("0 9 * * *")
    page.get_by_label("Cron expression").fill("30 6 * * *")
    page.get_by_label("Note").fill("new")
    page.get_by_label("Runs at the same time").select_option("serial")
    page.get_by_role("button", name="Save").click()
    expect(page.locator(".ticks li").first).to_contain_text("09:30")
    row = console.db.row(
        "select cron_expr, description, queue_policy, approval_policy "
        "from lenses.workflow_schedules where id = %s",
        [schedule_id],
    )
    assert row == ("30 6 * * *", "new", {"mode": "serial"}, {"requiresApproval": True})


def test_a_long_list_is_filtered_sorted_and_paged(console: Console, window: Window) -> None:
    console.db.execute(
        "insert into lenses.workflows (lenser_id, title) "
        "select %s, 'Work ' || lpad(i::text, 3, '0') from generate_series(1, 130) i",
        [console.owner.id],
    )
    console.db.execute(
        "insert into lenses.workflow_schedules (lenser_id, workflow_id, schedule_type, cron_expr) "
        "select lenser_id, id, 'cron', '0 ' || mod(right(title, 2)::int, 24) || ' * * *' "
        "from lenses.workflows"
    )
    page = window.open("/?sort=name")
    expect(page.locator("tbody tr")).to_have_count(50)
    expect(page.locator(".pager")).to_contain_text("1–50 of 130")
    page.get_by_role("link", name="Next page").click()
    page.get_by_role("link", name="Next page").click()
    expect(page.locator("tbody tr")).to_have_count(30)
    expect(page.locator("tbody tr").last).to_contain_text("Work 130")
    window.settle()
    page.locator("th").get_by_role("link", name="Schedule").click()
    expect(page.locator("tbody tr").first).to_contain_text("Work 130")
    expect(page.locator("th[aria-sort=descending]")).to_have_text("Schedule")
    page.get_by_label("Filter").fill("work 07")
    expect(page.locator("tbody tr")).to_have_count(10)
    expect(page).to_have_url(f"{console.base}/?q=work+07&sort=name&dir=desc")
    page.get_by_label("Status").select_option("paused")
    expect(page.get_by_role("heading", name="Nothing fits this filter")).to_be_visible()
    window.shot("observe-filtered")


def test_delete_asks_first(console: Console, window: Window) -> None:
    make_schedule(console)
    page = window.open("/")
    page.get_by_role("button", name="Delete Digest").click()
    page.get_by_role("dialog").get_by_role("button", name="Cancel").click()
    expect(page.locator("tbody tr")).to_have_count(1)
    page.get_by_role("button", name="Delete Digest").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(page.locator("tbody tr")).to_have_text("This schedule has been deleted.")
    assert console.db.value("select count(*) from lenses.workflow_schedules") == 0


def test_a_gateway_and_its_crons(console: Console, window: Window) -> None:
    page = window.open("/gateways")
    page.get_by_role("button", name="Add gateway").click()
    expect(page.locator("[data-field=name] .error")).to_contain_text("name of a gateway")
    page.get_by_label("Name").fill("eu-west bridge")
    page.get_by_label("Endpoint").fill("https://gw.example")
    page.get_by_role("button", name="Add gateway").click()
    expect(page.get_by_role("heading", name="eu-west bridge")).to_be_visible()
    page.get_by_label("Operation").fill("health_probe")
    page.get_by_label("Cron expression").fill("*/90 * * * *")
    page.get_by_role("button", name="Add cron").click()
    expect(page.locator("[data-field=cron_expr] .error")).to_contain_text('"*/90"')
    page.get_by_label("Cron expression").fill("*/10 * * * *")
    page.get_by_role("button", name="Add cron").click()
    row = page.locator("table.crons tbody tr")
    expect(row).to_contain_text("health probe")
    window.settle()
    row.get_by_role("button", name="Run").click()
    page.get_by_role("dialog").get_by_role("button", name="Run now").click()
    expect(page.locator("table.runs tbody tr")).to_contain_text("by hand")
    window.settle()
    row.get_by_role("button", name="Switch off").click()
    expect(row).to_contain_text("disabled")
    window.settle()
    row.get_by_label("Edit health probe").click()
    row.get_by_label("Cron expression").fill("*/20 * * * *")
    row.get_by_role("button", name="Save").click()
    expect(row).to_contain_text("Every 20 minutes")
    window.shot("gateway")
    window.open("/")
    expect(page.locator("tbody tr")).to_contain_text("gateway, health probe")
    window.troubles[:] = [text for text in window.troubles if "422" not in text]


def test_a_refresh_brings_news_and_disturbs_nothing(console: Console, window: Window) -> None:
    schedule_id = make_schedule(console)
    page = window.open(f"/schedules/{schedule_id}")
    page.locator("summary", has_text="Pause").click()
    page.get_by_label("Note").fill("half a sentence")
    console.db.execute(
        "update lenses.workflow_schedules set description = 'news' where id = %s", [schedule_id]
    )
    page.evaluate("document.body.dispatchEvent(new Event('refresh'))")
    expect(page.get_by_text("news")).to_be_visible()
    expect(page.get_by_label("Note")).to_have_value("half a sentence")
    expect(page.get_by_label("Note")).to_be_focused()


def test_keys_alone_are_enough(console: Console, window: Window) -> None:
    make_schedule(console)
    page = window.open("/")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
    page.keyboard.press("/")
    expect(page.get_by_label("Filter")).to_be_focused()
    page.get_by_role("button", name="Pause Digest").focus()
    page.keyboard.press("Enter")
    expect(page.locator("tbody .c-status")).to_have_text("paused")
    window.settle()
    page.get_by_role("button", name="Delete Digest").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_be_hidden()
    expect(page.locator("tbody tr")).to_have_count(1)


@pytest.fixture
def outage(server: TestServer, console: Console) -> Iterator[object]:
    """`outage(True)` takes the database away from the console, `outage(False)` gives it back."""
    name = console.db.dbname
    with connect(server.dsn("postgres")) as admin:

        def switch(is_gone: bool) -> None:
            admin.execute(f"alter database {name} allow_connections {not is_gone}")
            if is_gone:
                admin.execute(
                    "select pg_terminate_backend(pid) from pg_stat_activity "
                    "where datname = %s and application_name = 'lf-sql console'",
                    [name],
                )

        yield switch
        switch(False)


def test_a_lost_database_shows_a_banner_and_heals(
    console: Console, window: Window, outage: object
) -> None:
    make_schedule(console)
    page = window.open("/")
    outage(True)  # type: ignore[operator]
    page.evaluate("document.body.dispatchEvent(new Event('refresh'))")
    banner = page.get_by_role("alert").filter(has_text="The database does not answer")
    expect(banner).to_be_visible()
    expect(page.locator("tbody tr")).to_have_count(1)
    window.shot("lost")
    outage(False)  # type: ignore[operator]
    expect(banner).to_be_hidden()

    outage(True)  # type: ignore[operator]
    window.open("/load")
    expect(page.get_by_role("heading", name="The database does not answer")).to_be_visible()
    outage(False)  # type: ignore[operator]
    expect(page.get_by_role("heading", name="Load")).to_be_visible()
    assert all("503" in text for text in window.troubles), window.troubles
    window.troubles.clear()


def test_a_restart_of_the_server_costs_nothing(console: Console, window: Window) -> None:
    make_schedule(console)
    page = window.open("/")
    console.db.execute(
        "select pg_terminate_backend(pid, 5000) from pg_stat_activity "
        "where datname = current_database() and application_name = 'lf-sql console'"
    )
    page.get_by_role("button", name="Pause Digest").click()
    expect(page.locator("tbody .c-status")).to_have_text("paused")
    wait_until(lambda: console.db.value("select paused_at from lenses.workflow_schedules"))
