"""Ctrl-C while the command is still being loaded."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SCRIPTS = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["scripts"]

# Ctrl-C comes when this module is loaded.
CODE = """
import importlib, runpy, sys

class Interrupted:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            raise KeyboardInterrupt

sys.meta_path.insert(0, Interrupted())
sys.argv = ["lf-sql", "status"]
name, _, function = {entry!r}.partition(":")
if function:
    sys.exit(getattr(importlib.import_module(name), function)())
runpy.run_module(name, run_name="__main__", alter_sys=True)
"""


@pytest.mark.parametrize("how", ["", "2>/dev/full", "2>&-"])
@pytest.mark.parametrize("entry", ["lf_sql", *sorted(set(SCRIPTS.values()))])
@pytest.mark.parametrize("module", ["lf_sql.cli", "click", "psycopg", "lf_sql.cli.status"])
def test_an_interrupt_while_it_is_loaded(module: str, entry: str, how: str) -> None:
    code = CODE.format(module=module, entry=entry)
    done = subprocess.run(
        ["sh", "-c", f'exec "$@" {how}', "sh", sys.executable, "-c", code],
        capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (130, "")
    assert done.stderr.strip() == ("" if how else "error: interrupted")
