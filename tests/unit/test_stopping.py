"""A signal may come in the middle of anything, also of what its event does."""

from __future__ import annotations

import subprocess
import sys

import pytest

# The signal comes while the main thread holds the event's lock, as it does within a wait.
CODE = """
import os, signal
from lf_sql.stopping import stop_on
stop = stop_on(signal.SIGTERM, signal.SIGINT)
with stop._cond:
    os.kill(os.getpid(), signal.{name})
    print("handled", flush=True)
assert stop.wait(60)
"""


@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT"])
def test_a_signal_in_the_middle_of_a_wait_stops_the_process(name: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", CODE.format(name=name)],
        capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, "handled\n", "")
