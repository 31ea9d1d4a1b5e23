"""On a standby every reading command answers, and every other is refused in one clear line."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.faults.plant import plant
from tests.faults.test_failover import STREAMING, caught_up
from tests.support.cli import lf_sql, refused
from tests.support.database import connect, wait_until
from tests.support.reading import pages, reading
from tests.support.servers import standby_of
from tests.support.tenants import ALICE, populate


@pytest.fixture(scope="module")
def standby() -> Iterator[str]:
    """ALICE's rows and a fresh tick, replicated; nothing goes on at the primary."""
    with plant(STREAMING) as place, place.connect() as primary:
        populate(primary, ALICE)
        primary.execute("select lenses.fn_tick_end(lenses.fn_tick_begin('worker'))")
        with standby_of(place.server) as dsn, connect(dsn) as conn:
            wait_until(lambda: caught_up(primary, conn))
            yield dsn


def test_every_reading_command(standby: str, tmp_path: Path) -> None:
    for words in reading({**ALICE.ids, "folder": str(tmp_path / "export")}):
        for more in ([], ["--json"], ["--as", ALICE.user]):
            answer = lf_sql(*words, *more, dsn=standby)
            # Health minds that the primary's newest tick grows old meanwhile.
            assert answer.returncode in ((0, 1) if "health" in words else (0,)), (words, answer)
            assert answer.stdout or words == ["verify"], (words, answer)
            assert "error" not in answer.stderr, (words, answer)


def test_diff_shows_the_plan(standby: str, tmp_path: Path) -> None:
    file = tmp_path / "a.yaml"
    file.write_text("workflows: {another: {schedules: {morning: {every: 6h}}}}")
    answer = lf_sql("diff", str(file), "--as", ALICE.user, dsn=standby)
    assert answer.returncode == 1, answer
    assert "+ another" in answer.stdout
    assert "this connection only reads: whether apply is refused was not tried" in answer.stderr
    assert "error" not in answer.stderr


def test_every_page_of_the_console(standby: str) -> None:
    for path, status, text in pages(standby, ALICE.user, ALICE.ids):
        assert status == 200, (path, text)


@pytest.mark.parametrize(
    "words",
    [
        ("schedule", "pause", ALICE.schedule),
        ("schedule", "run-now", ALICE.schedule),
        ("runs", "approve", ALICE.run),
        ("runs", "cancel", ALICE.run),
        ("workflow", "create", "another"),
        ("install",),
        ("upgrade",),
    ],
    ids=" ".join,
)
def test_what_changes_something_is_refused_in_one_line(
    standby: str, words: tuple[str, ...]
) -> None:
    more = ("--as", ALICE.user) if words[0] not in ("install", "upgrade") else ()
    refused(lf_sql(*words, *more, dsn=standby), "read-only", "primary")
