"""Every command of the README is run, a section at a time, against a fresh database.

```sh``` and ```sql``` blocks are run as they stand; `sh background` is started, must live, and must end
cleanly; `sh exits-1` brings bad news; `python file=NAME` is a file of that name. The blocks of "A first
schedule" come before every section.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support.database import Database, wait_until

README = Path(__file__).parents[2] / "README.md"
SETUP = "A first schedule"
BLOCK = re.compile(r"^```(\w+)(?: ([\w.=-]+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Block:
    language: str
    how: str
    text: str


def sections() -> dict[str, list[Block]]:
    """The blocks that are run, by the heading above them."""
    parts = re.split(r"^## (.+)$", README.read_text(encoding="utf-8"), flags=re.MULTILINE)
    found = {
        title: [Block(m[1], m[2] or "", m[3]) for m in BLOCK.finditer(body)]
        for title, body in zip(parts[1::2], parts[2::2], strict=True)
    }
    return {
        title: [block for block in blocks if block.language in ("sh", "sql", "python")]
        for title, blocks in found.items()
    }


SECTIONS = sections()
# What needs a machine of its own, and is run by other tests: servers, packages, services.
ELSEWHERE = {title for title in SECTIONS if title.startswith(("Install", "Try"))}


@pytest.fixture
def shell(db: Database, tmp_path: Path) -> dict[str, str]:
    """The environment of a user whose database is `db`."""
    info = db.info
    bindir = str(Path(sys.executable).parent)
    return {
        "PATH": f"{bindir}:{os.environ['PATH']}",
        "HOME": str(tmp_path),
        "LANG": "C.UTF-8",
        "LF_SQL_DSN": db.dsn,
        "PGHOST": info.host,
        "PGPORT": str(info.port),
        "PGUSER": info.user,
        "PGDATABASE": db.dbname,
    }


def run(block: Block, env: dict[str, str], folder: Path) -> None:
    if block.language == "python":
        (folder / block.how.removeprefix("file=")).write_text(block.text, encoding="utf-8")
        return
    if block.language == "sql":
        command = ["psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "-c", block.text]
    else:
        command = ["bash", "-euo", "pipefail", "-c", block.text]
    if block.how == "background":
        background(command, env, folder)
        return
    done = subprocess.run(
        command,
        env=env,
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
        timeout=120,
    )
    said = f"{block.text}\n{done.stdout}\n{done.stderr}"
    assert done.returncode == (1 if block.how == "exits-1" else 0), said
    assert "Traceback" not in done.stderr, said


def background(command: list[str], env: dict[str, str], folder: Path) -> None:
    log = folder / "log"
    text = command[-1].strip()
    command[-1] = re.sub(r"lf-sql|python", r"exec \g<0>", text, count=1)
    command[-1] = re.sub(r"^((?:\w+=\S+ )+)exec ", r"export \1; exec ", command[-1])
    with log.open("w") as out:
        process = subprocess.Popen(
            command, env=env, cwd=folder, stdout=out, stderr=out, stdin=subprocess.DEVNULL
        )
    try:
        words = ("leading", "waiting for runs", "listening", "http://127.0.0.1:")
        wait_until(
            lambda: any(w in log.read_text() for w in words) or process.poll() is not None,
            20.0,
            what=text,
        )
        assert process.poll() is None, log.read_text()
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == 0, log.read_text()
    finally:
        process.kill()
        process.wait(10)


@pytest.mark.parametrize(
    "title", [title for title, blocks in SECTIONS.items() if blocks and title not in ELSEWHERE]
)
def test_section(title: str, shell: dict[str, str], tmp_path: Path) -> None:
    for name in dict.fromkeys([SETUP, title]):
        for block in SECTIONS[name]:
            run(block, shell, tmp_path)


def test_every_task_has_its_section() -> None:
    wanted = {
        *(
            "A first schedule",
            "Schedules as code",
            "From cron and pg_cron",
            "Steering schedules",
            "Calendars",
            "Conditions",
            "Rotation",
        ),
        *("Missed slots and overlapping runs", "Approvals", "Executors", "Health", "Metrics"),
        *("The worker: without pg_cron", "Backup and restore", "Upgrade", "Troubleshooting"),
    }
    assert wanted <= set(SECTIONS)
