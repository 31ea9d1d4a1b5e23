"""Answers that come late, and a user who is faster than the scripts."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Page, Route, expect

from tests.console.conftest import Window
from tests.console.test_flows import Scene, quiet

__all__ = ["quiet"]


def hold(page: Page, script: str) -> Callable[[], None]:
    """The script does not come before the answer is called."""
    held: list[Route] = []
    page.route(f"**/static/{script}", lambda route: held.append(route))

    def let_go() -> None:
        while not held:
            page.wait_for_timeout(10)
        held[0].continue_()
        page.unroute(f"**/static/{script}")

    return let_go


@pytest.mark.parametrize("script", ["htmx.min.js", "console.js"])
def test_what_is_typed_before_the_scripts_are_there_counts(scene: Scene, script: str) -> None:
    _, window = scene
    page = window.page
    let_go = hold(page, script)
    page.goto(window.base + "/", wait_until="commit")
    page.get_by_label("Filter").fill("report-0")
    expect(page.locator(".c-resource a").first).to_be_visible()
    let_go()
    expect(page.locator("tbody tr")).to_have_count(9)
    assert window.troubles == []


@pytest.mark.parametrize("script", ["htmx.min.js", "console.js"])
@pytest.mark.parametrize(
    ("path", "button", "answer"),
    [
        ("/", "Delete probe", "dialog[open]"),  # a question
        ("/calendars/new", "Save", ".error:visible"),  # a form, whose name is missing
        ("/", "Keys", "dialog[open]"),
    ],
)
def test_what_is_pressed_before_the_scripts_are_there_counts(
    scene: Scene, script: str, path: str, button: str, answer: str
) -> None:
    _, window = scene
    page = window.page
    let_go = hold(page, script)
    page.goto(window.base + path, wait_until="commit")
    page.get_by_role("button", name=button, exact=True).click()
    expect(page.locator(answer)).to_have_count(0)
    let_go()
    expect(page.locator(answer)).to_have_count(1)
    assert page.url == window.base + path


def test_a_press_that_something_followed_is_no_press(scene: Scene) -> None:
    """What followed may have been meant to go with it: nothing is saved that was half typed."""
    console, window = scene
    page = window.page
    calendars = "select count(*) from lenses.schedule_calendars"
    before = console.db.value(calendars)
    posts: list[str] = []
    page.on("request", lambda sent: posts.append(sent.url) if sent.method == "POST" else None)

    def type_on() -> None:
        page.get_by_role("button", name="Save", exact=True).click()
        page.get_by_label("Name", exact=True).fill("half ty")

    def press_another() -> None:
        page.get_by_role("button", name="Keys", exact=True).click()
        page.get_by_role("button", name="Save", exact=True).click()

    for act in (type_on, press_another):
        let_go = hold(page, "console.js")
        page.goto(window.base + "/calendars/new", wait_until="commit")
        page.get_by_label("Name", exact=True).fill("first")
        act()
        let_go()
        page.wait_for_load_state("load")
        page.evaluate(
            "() => new Promise((done) => setTimeout(done))"
        )  # after the page's own timers
        # The page works, and what was pressed early would have been asked for before this.
        page.get_by_role("button", name="Keys", exact=True).click()
        expect(page.locator("dialog[open]")).to_have_count(1)
    assert posts == []
    assert console.db.value(calendars) == before


@contextmanager
def without(window: Window, script: str) -> Iterator[Callable[[], None]]:
    """The script never comes: loads of it wait until the answer is called, and fail.

    All errors that the browser tells of it are over at the end.
    """
    page = window.page
    held: list[Route] = []
    is_over = False
    failed = 0

    def fail(route: Route) -> None:
        nonlocal failed
        if is_over:
            failed += 1
            route.abort()
        else:
            held.append(route)

    def go_on() -> None:
        nonlocal is_over
        while not held:
            page.wait_for_timeout(10)
        is_over = True
        while held:
            fail(held.pop())

    page.route(f"**/static/{script}", fail)
    try:
        yield go_on
        page.wait_for_load_state("load")
        while len(window.troubles) < failed:
            page.wait_for_timeout(10)
    finally:
        page.unroute(f"**/static/{script}")
        window.troubles.clear()


@pytest.mark.parametrize("is_early", [False, True], ids=["pressed later", "pressed before"])
def test_a_form_works_where_a_script_does_not_come(scene: Scene, is_early: bool) -> None:
    _, window = scene
    page = window.page
    window.open("/")
    path = page.get_by_role("link", name="probe", exact=True).get_attribute("href")
    with without(window, "console.js") as go_on:
        page.goto(f"{window.base}{path}", wait_until="commit")
        page.get_by_label("Why, or why not, at").fill("2027-03-01T09:00")
        if not is_early:
            go_on()
            page.wait_for_load_state("load")
            page.evaluate("() => new Promise((done) => setTimeout(done))")
        page.get_by_role("button", name="Explain").click()
        if is_early:
            go_on()
        expect(page).to_have_url(re.compile("/explain[?]wall="))


def test_a_late_refresh_does_not_undo_a_filter(scene: Scene) -> None:
    _, window = scene
    page = window.open("/")
    everything = page.locator("tbody tr").count()
    assert everything > 9
    held: list[Route] = []
    page.route("**/?*keep=*", lambda route: held.append(route))
    page.evaluate("document.body.dispatchEvent(new Event('refresh'))")
    while not held:
        page.wait_for_timeout(10)
    page.get_by_label("Filter").fill("report-0")
    expect(page.locator("tbody tr")).to_have_count(9)
    stale = [route.fetch() for route in held]
    for route, answer in zip(held, stale, strict=True):
        route.fulfill(response=answer)
    page.unroute("**/?*keep=*")
    window.settle()
    with page.expect_response("**/?*keep=*"):
        page.evaluate("document.body.dispatchEvent(new Event('refresh'))")
    expect(page.locator("tbody tr")).to_have_count(9)
    assert window.troubles == []


def test_no_refresh_begins_while_something_is_asked(scene: Scene) -> None:
    """Neither after a question that was answered with no."""
    _, window = scene
    page = window.page
    page.clock.install()
    window.open("/")
    page.get_by_role("button", name="Delete probe").click()
    page.get_by_role("button", name="Cancel").click()
    held: list[Route] = []
    refreshes: list[str] = []
    page.route("**/pause", lambda route: held.append(route))
    page.on("request", lambda sent: refreshes.append(sent.url) if "keep=" in sent.url else None)
    page.get_by_role("button", name="Pause probe").click()
    while not held:
        page.wait_for_timeout(10)
    page.clock.run_for(25_000)  # a request may take 30 s
    assert refreshes == []
    held[0].continue_()
    page.unroute("**/pause")
    while not refreshes:
        page.wait_for_timeout(10)
    assert window.troubles == []
