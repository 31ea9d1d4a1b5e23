"""The console's picture in the README, from the demonstration's data: python -m tests.support.picture [FILE]."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

FILE = Path("installer/pictures/console.png")
SIZE = {"width": 1240, "height": 690}


def take(address: str, path: Path) -> None:
    """Observe, as a newcomer in Berlin sees it."""
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page(
            viewport=SIZE, color_scheme="light", timezone_id="Europe/Berlin", locale="en-GB"
        )
        page.goto(address)
        page.locator("tbody tr").first.wait_for()
        page.screenshot(path=path)
        browser.close()


def main() -> None:
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else FILE
    path.parent.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "lf_sql", "demo", "--keep"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as demo:
        assert demo.stdout is not None
        address = next(line.strip() for line in demo.stdout if line.startswith("http"))
        take(address, path)
        demo.send_signal(signal.SIGINT)
        demo.communicate()


if __name__ == "__main__":
    main()
