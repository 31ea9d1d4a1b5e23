"""Wrong use of the library, and its import."""

from __future__ import annotations

import asyncio
import subprocess
import sys

import pytest

from lf_sql import Executor
from lf_sql.errors import LfSqlError


def test_wrong_use_is_said_at_once() -> None:
    executor = Executor()
    executor.handler("a")(print)
    for wrong in (
        lambda: executor.handler("a")(print),
        lambda: executor.handler("b", kind="battle")(print),
        lambda: executor.handler(kind="war")(print),
        lambda: executor.handler("c", limit=0)(print),
        lambda: Executor(concurrency=0),
        lambda: Executor(lease=0.5),
    ):
        with pytest.raises(ValueError, match=r"\w"):
            wrong()


def test_the_library_costs_nothing_until_it_is_used() -> None:
    script = (
        "import sys, lf_sql; assert 'psycopg' not in sys.modules; from lf_sql import Executor, Run"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


def test_a_second_loop_in_a_thread_is_refused_in_words() -> None:
    async def inside() -> None:
        Executor().run()

    with pytest.raises(LfSqlError, match="runs in this thread already") as caught:
        asyncio.run(inside())
    assert caught.value.hint == "await executor.serve()"
