"""Answers that come late, and a user who is faster than the scripts."""

from __future__ import annotations

import pytest
from playwright.sync_api import Route, expect

from tests.console.test_flows import Scene, quiet

__all__ = ["quiet"]


@pytest.mark.parametrize("script", ["htmx.min.js", "console.js"])
def test_what_is_typed_before_the_scripts_are_there_counts(scene: Scene, script: str) -> None:
    _, window = scene
    page = window.page
    held: list[Route] = []
    page.route(f"**/static/{script}", lambda route: held.append(route))
    page.goto(window.base + "/", wait_until="commit")
    page.get_by_label("Filter").fill("report-0")
    while not held:
        page.wait_for_timeout(10)
    expect(page.locator(".c-resource a").first).to_be_visible()
    held[0].continue_()
    expect(page.locator("tbody tr")).to_have_count(9)
    page.unroute(f"**/static/{script}")
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
    held: list[Route] = []
    page.route(f"**/static/{script}", lambda route: held.append(route))
    page.goto(window.base + path, wait_until="commit")
    page.get_by_role("button", name=button, exact=True).click()
    while not held:
        page.wait_for_timeout(10)
    expect(page.locator(answer)).to_have_count(0)
    held[0].continue_()
    expect(page.locator(answer)).to_have_count(1)
    assert page.url == window.base + path
    page.unroute(f"**/static/{script}")


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
