"""Tests of pg_cron itself: left out, with a line in the summary, where the version matrix has a build without it.

Anywhere else a missing pg_cron is a failure.
"""

from __future__ import annotations

import os

import pytest

from tests.support.server import build, preload

_KEY: pytest.StashKey[int] = pytest.StashKey()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not os.environ.get("LF_SQL_TEST_BINDIR") or preload("pg_cron"):
        return
    out = [item for item in items if item.get_closest_marker("pg_cron")]
    items[:] = [item for item in items if not item.get_closest_marker("pg_cron")]
    config.stash[_KEY] = len(out)
    config.hook.pytest_deselected(items=out)


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    if config.stash.get(_KEY, 0):
        terminalreporter.write_line(
            f"{config.stash[_KEY]} tests of pg_cron are left out: this build of PostgreSQL "
            f"{build().major} has none; everything else was driven without it"
        )
