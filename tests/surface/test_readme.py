"""Every command of the documentation is run, and every link of it leads somewhere.

README.md is run from top to bottom, against a server of its own that has pg_cron. The other pages
are run a section at a time, against a fresh database; those of the manual after the first page's
tenant and first schedule.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from tests.support.database import Database, connect, wait_until
from tests.support.pages import (
    DOCKER,
    FENCED,
    FIRST,
    MANUAL,
    PAGES,
    ROOT,
    SQL,
    Block,
    anchors,
    sections,
)
from tests.support.server import TestServer, build

SETUP = [
    block
    for title in ("A tenant", "A first schedule")
    for block in sections(FIRST)[title]
    if block.is_run
]
LINK = re.compile(r"\]\(([^)\s]+)\)")
DOCUMENTS = [
    *ROOT.glob("*.md"),
    *(page for folder in ("docker", "installer", "sql", "tests") for page in (ROOT / folder).rglob("*.md")),
]  # fmt: skip


def environment(folder: Path, dsn: str, host: str, port: int, dbname: str) -> dict[str, str]:
    """That of a user whose database it is."""
    return {
        "PATH": f"{Path(sys.executable).parent}:{build().bindir}:{os.environ['PATH']}",
        "HOME": str(folder),
        "LANG": "C.UTF-8",
        "LF_SQL_DSN": dsn,
        "PGHOST": host,
        "PGPORT": str(port),
        "PGUSER": "postgres",
        "PGDATABASE": dbname,
    }


@pytest.fixture
def shell(db: Database, tmp_path: Path) -> dict[str, str]:
    return environment(tmp_path, db.dsn, db.info.host, db.info.port, db.dbname)


@pytest.fixture
def own_server(tmp_path: Path) -> Iterator[dict[str, str]]:
    """A newcomer's: pg_cron lives in the database, in which nothing is installed yet."""
    server = TestServer(
        {
            "shared_preload_libraries": "pg_cron",
            "cron.database_name": "app",
            "cron.use_background_workers": "on",
            "cron.launch_active_jobs": "off",
        }
    )
    try:
        with connect(server.dsn()) as admin:
            admin.execute("create database app")
        host = f"{server.folder}/tmp"
        yield environment(tmp_path, server.dsn("app"), host, server.port, "app")
    finally:
        server.stop()


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
    wanted = {"": (0,), "exits-1": (1,), "either": (0, 1)}[block.how]
    assert done.returncode in wanted, said
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
        assert process.wait(120) == 0, log.read_text()
    finally:
        process.kill()
        process.wait(120)


@pytest.mark.pg_cron
def test_the_first_page_from_top_to_bottom(own_server: dict[str, str], tmp_path: Path) -> None:
    for blocks in sections(FIRST).values():
        for block in blocks:
            if block.is_run:
                run(block, own_server, tmp_path)


def runnable(page: Path) -> list[str]:
    return [title for title, blocks in sections(page).items() if any(b.is_run for b in blocks)]


@pytest.mark.slow
@pytest.mark.parametrize("title", runnable(MANUAL))
def test_section_of_the_manual(title: str, shell: dict[str, str], tmp_path: Path) -> None:
    for block in [*SETUP, *sections(MANUAL)[title]]:
        if block.is_run:
            run(block, shell, tmp_path)


@pytest.mark.parametrize(
    ("page", "title"), [(page, title) for page in (SQL, DOCKER) for title in runnable(page)]
)
def test_section_of_another_page(
    page: Path, title: str, shell: dict[str, str], tmp_path: Path
) -> None:
    for block in sections(page)[title]:
        if block.is_run:
            run(block, shell, tmp_path)


def test_every_task_has_its_section() -> None:
    on_the_first_page = {
        *("Install", "A tenant", "A first schedule", "Preview and explain", "An executor"),
        *("Health", "Schedules as code", "From cron and pg_cron", "Backup and upgrade"),
    }
    in_the_manual = {
        *("Cron expressions", "Steering schedules", "Schedules as code", "From cron and pg_cron"),
        *("Calendars", "Conditions", "Rotation", "Missed slots and overlapping runs", "Approvals"),
        *("The worker: without pg_cron", "Gateways", "A page to look at", "Health", "Metrics"),
        *("Backup and restore", "Upgrade", "Troubleshooting", "Shell completion", "Executors"),
    }
    assert on_the_first_page <= set(runnable(FIRST))
    assert in_the_manual <= set(runnable(MANUAL))
    assert {"As a tenant", "Deliveries and events"} <= set(runnable(SQL))


def test_the_first_page_is_short() -> None:
    assert len(FIRST.read_text(encoding="utf-8").splitlines()) <= 250


@pytest.mark.parametrize("page", DOCUMENTS, ids=[str(p.relative_to(ROOT)) for p in DOCUMENTS])
def test_every_link_leads_somewhere(page: Path) -> None:
    broken = []
    for link in LINK.findall(FENCED.sub("", page.read_text(encoding="utf-8"))):
        name, _, anchor = link.partition("#")
        target = page.parent / name if name else page
        if re.match(r"\w+:", link):
            continue
        if not target.exists() or (anchor and anchor not in anchors(target)):
            broken.append(link)
    assert broken == []


def test_the_manual_s_contents_are_all_its_chapters() -> None:
    text = MANUAL.read_text(encoding="utf-8")
    contents = re.findall(r"\]\(#([^)]+)\)", text.partition("\n# Writing schedules\n")[0])
    chapters = re.findall(r"^##? (.+)$", FENCED.sub("", text), re.MULTILINE)[1:]
    slugs = [re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in chapters]
    assert contents == slugs


def test_the_page_of_docker_has_every_profile_and_what_it_wants() -> None:
    text = DOCKER.read_text(encoding="utf-8")
    services = yaml.safe_load((ROOT / "docker/compose.yaml").read_text(encoding="utf-8"))[
        "services"
    ]
    profiles = {name for service in services.values() for name in service.get("profiles", [])}
    assert set(re.findall(r"^\| `([a-z]+)` \|", text, re.MULTILINE)) == profiles
    assert set(re.findall(r"--profile (\w+)", text)) == profiles
    asked = set(re.findall(r"\b[A-Z][A-Z_]{5,}\b(?==)", text)) | {"POSTGRES_PORT"}
    known = (ROOT / "docker/compose.yaml").read_text() + (ROOT / "docker/entrypoint.sh").read_text()
    assert {name for name in asked if name not in known} == set()


def test_compose_asks_of_a_service_only_what_it_wants_itself() -> None:
    """Compose fills in all of the file before it looks at profiles."""
    text = (ROOT / "docker/compose.yaml").read_text(encoding="utf-8")
    assert re.findall(r"(?<!\$)\$\{\w+:?\?", text) == []


def test_the_pages_are_those_that_the_first_one_names() -> None:
    table = re.findall(r"^\| \[(\w+/README\.md)\]", FIRST.read_text(encoding="utf-8"), re.MULTILINE)
    assert [ROOT / name for name in table] == list(PAGES[1:])
