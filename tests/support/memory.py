"""Temporary files in memory: a fifth of the suite's CPU time went into databases on a disk."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

MEMORY = Path("/dev/shm")
ENOUGH = 6 * 2**30
"""What must be free, in bytes; a whole run needs less than half of it."""


def use_memory() -> None:
    """Makes MEMORY the place of temporary files, here and in what is started from here.

    Where TMPDIR names a place already, or there is too little memory, nothing changes.
    """
    if "TMPDIR" in os.environ or not os.access(MEMORY, os.W_OK):
        return
    if min(shutil.disk_usage(MEMORY).free, available()) >= ENOUGH:
        os.environ["TMPDIR"] = tempfile.tempdir = str(MEMORY)


def available() -> int:
    """The memory that programs can have without swapping, in bytes; 0 where it is not known."""
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
    except OSError:
        return 0
    return next((int(n.split()[1]) * 1024 for n in lines if n.startswith("MemAvailable:")), 0)
