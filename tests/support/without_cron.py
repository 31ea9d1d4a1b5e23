"""Tests of pg_cron itself: left out, with a line in the summary, where the version matrix has a build without it.

Anywhere else a missing pg_cron is a failure.
"""

from __future__ import annotations

import os
from typing import Any

import pytest

from tests.support.server import build, preload

_KEY: pytest.StashKey[int] = pytest.StashKey()


def leave_out(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Takes the tests of pg_cron from `items` where the build has none."""
    if not os.environ.get("LF_SQL_TEST_BINDIR") or preload("pg_cron"):
        return
    out = [item for item in items if item.get_closest_marker("pg_cron")]
    items[:] = [item for item in items if not item.get_closest_marker("pg_cron")]
    config.stash[_KEY] = len(out)
    if hasattr(config, "workeroutput"):
        config.workeroutput["without_cron"] = len(out)
    config.hook.pytest_deselected(items=out)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any, error: object) -> None:
    """Every worker of pytest-xdist collects the same tests; the process that reports collects none."""
    left_out = getattr(node, "workeroutput", {}).get("without_cron", 0)
    node.config.stash[_KEY] = max(left_out, node.config.stash.get(_KEY, 0))


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    if config.stash.get(_KEY, 0):
        terminalreporter.write_line(
            f"{config.stash[_KEY]} tests of pg_cron are left out: this build of PostgreSQL "
            f"{build().major} has none; everything else was driven without it"
        )
