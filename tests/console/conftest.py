"""A console of its own for each test, and a headless Chromium to look at it."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, expect, sync_playwright

from tests.console.scene import fill
from tests.support.database import PATIENCE, Database, Tenant, connect, make_tenant
from tests.support.state import State

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@dataclass(frozen=True)
class Console:
    """A running `lf-sql console`; `link` is the address that it printed."""

    db: Database
    owner: Tenant
    link: str

    @property
    def base(self) -> str:
        parts = urlsplit(self.link)
        return f"{parts.scheme}://{parts.netloc}"


@dataclass
class Window:
    """A page of the browser; what its console says about errors is kept."""

    page: Page
    base: str
    folder: Path
    troubles: list[str] = field(default_factory=list)

    def open(self, path: str) -> Page:
        self.page.goto(self.base + path)
        return self.page

    def settle(self) -> None:
        """Until what has just changed takes clicks again."""
        expect(self.page.locator(".fresh")).to_have_count(0)

    def shot(self, name: str) -> None:
        self.page.screenshot(path=self.folder / f"{name}.png", full_page=True)


@pytest.fixture
def owner(tenant: Callable[..., Tenant]) -> Tenant:
    return tenant("ann")


@contextmanager
def running_console(db: Database, owner: Tenant) -> Iterator[Console]:
    command = [sys.executable, "-c", "from lf_sql.cli import main; main()", "console"]
    command += ["--dsn", db.dsn, "--as", str(owner.user_id), "--port", "0"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        link = process.stdout.readline().strip()
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/\?token=[\w-]{40,}", link), (
            link or process.stderr.read()
        )
        yield Console(db, owner, link)
        process.terminate()
        process.wait(timeout=120)


@pytest.fixture
def console(db: Database, owner: Tenant) -> Iterator[Console]:
    with running_console(db, owner) as console:
        yield console


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    names = ("chromium", "chromium-browser", "google-chrome")
    path = next(filter(None, map(shutil.which, names)), None)
    if path is None:
        pytest.fail("no Chromium here: apt-get install --no-install-recommends chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def output(pytestconfig: pytest.Config) -> Path:
    """Where the screenshots land."""
    folder = pytestconfig.rootpath / "build" / "console"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@contextmanager
def opened(chromium: Browser, console: Console, output: Path) -> Iterator[Window]:
    """Inside the console, in Istanbul; what the browser says about errors is kept."""
    context = chromium.new_context(
        timezone_id="Europe/Istanbul", locale="en-GB", viewport={"width": 1440, "height": 900}
    )
    page = context.new_page()
    page.set_default_timeout(1000 * PATIENCE)
    expect.set_options(timeout=1000 * PATIENCE)
    window = Window(page, console.base, output)

    def listen(message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            window.troubles.append(message.text)

    page.on("console", listen)
    page.on("pageerror", lambda error: window.troubles.append(str(error)))
    page.goto(console.link)
    yield window
    context.close()


@pytest.fixture
def window(chromium: Browser, console: Console, output: Path) -> Iterator[Window]:
    """A test in which the browser saw an error fails."""
    with opened(chromium, console, output) as window:
        yield window
        assert window.troubles == []


@contextmanager
def staged(
    state: State, chromium: Browser, output: Path, *, hours: int
) -> Iterator[tuple[Console, Window]]:
    """A tenant whose last hours are played, his console and a browser on it."""
    name = state.fresh(installed=True)
    with connect(state.server.dsn(name)) as db:
        owner = make_tenant(db, "ann")
        fill(db, owner, hours=hours)
        with running_console(db, owner) as console, opened(chromium, console, output) as window:
            yield console, window
    state.drop(name)


@pytest.fixture(scope="module")
def scene(state: State, chromium: Browser, output: Path) -> Iterator[tuple[Console, Window]]:
    """A tenant with a day behind him, for all who look at him."""
    with staged(state, chromium, output, hours=6) as scene:
        yield scene
