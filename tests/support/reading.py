"""Every command of lf-sql, from the click tree: those that only read with arguments that work, the rest by name.

A command that is in neither list fails the tests that use them.
"""

from __future__ import annotations

import http.client
from collections.abc import Iterator, Mapping
from urllib.parse import urlsplit

import click
from starlette.routing import Route

from lf_sql.cli import cli
from lf_sql.console.pages import (
    approvals,
    builder,
    calendars,
    explain,
    gateways,
    health,
    load,
    observe,
    runs,
    schedule,
    timeline,
)
from tests.support.processes import running

# `{kind}` is the id of the tenant's row of that kind.
READS: Mapping[str, list[list[str]]] = {
    "agent list": [[]],
    "completion": [["bash"], ["zsh"], ["fish"]],
    "delivery list": [[]],
    "export": [["--supabase", "{folder}"], ["--yaml"]],
    "gateway cron list": [["{gateway}"]],
    "gateway list": [[]],
    "gateway runs": [["{gateway}"]],
    "metrics": [[]],
    "runs list": [[], ["--schedule", "{schedule}", "--since", "30d"]],
    "runs show": [["{run}"]],
    "schedule calendar list": [[]],
    "schedule calendar show": [["{calendar}"]],
    "schedule condition test": [["{schedule}"], ["{schedule}", "{{}}"]],
    "schedule describe": [["0 9 * * *"]],
    "schedule explain": [["{schedule}", "--at", "2026-12-01T09:00"]],
    "schedule health": [[], ["--server"]],
    "schedule history": [["{schedule}"]],
    "schedule inspect": [["{schedule}"]],
    "schedule lint": [[], ["{schedule}"]],
    "schedule list": [[]],
    "preview": [["--from", "2026-12-01", "--days", "2"]],
    "schedule load": [[]],
    "schedule preview": [["{schedule}"], ["--all", "--from", "2026-12-01", "--days", "2"]],
    "schedule show": [["{schedule}"]],
    "settings list": [[]],
    "status": [[]],
    "team list": [[]],
    "tenant list": [[]],
    "verify": [[]],
    "workflow list": [[]],
}
CHANGES = {
    "agent create", "delivery delete", "delivery set", "delivery test", "freeze", "schedule calendar delete", "schedule calendar update", "settings set",
    "team create", "tenant create", "unfreeze",
    "apply", "gateway create", "gateway cron add", "gateway cron remove", "gateway cron run",
    "gateway cron update", "gateway delete", "install", "runs approve", "runs cancel", "runs reject",
    "runs deliver", "runs retry", "runs work", "schedule backfill", "schedule calendar attach", "schedule calendar create",
    "schedule calendar detach", "schedule calendar import", "schedule condition clear",
    "schedule condition set", "schedule create", "schedule delete", "schedule pause",
    "schedule recompute", "schedule resume", "schedule rotation clear", "schedule rotation set", "schedule run-now",
    "schedule update", "uninstall", "upgrade", "worker", "workflow create", "workflow status",
}  # fmt: skip
# Servers of their own: the console's pages are asked one by one; the demo needs no database. What reads
# files, or other schedulers, is asked in tests/surface; what reads the directory, in tests/cells.
ELSEWHERE = {
    "cells add", "cells foreign-tables", "cells health", "cells init", "cells list", "cells locate", "cells metrics", "cells move", "cells place",
    "cells resume", "cells set", "cells split", "cells upgrade", "cells verify",
    "console", "demo", "diff", "import crontab", "import kubernetes", "import pg-cron", "import pg-timetable",
}  # fmt: skip


def leaves(command: click.Command = cli, path: tuple[str, ...] = ()) -> Iterator[str]:
    """The words of every command, such as `schedule calendar list`."""
    if not isinstance(command, click.Group):
        yield " ".join(path)
        return
    for name in command.list_commands(click.Context(command)):
        child = command.get_command(click.Context(command), name)
        assert child is not None
        yield from leaves(child, (*path, name))


def reading(ids: Mapping[str, str]) -> Iterator[list[str]]:
    """Each command that only reads, as its words and arguments."""
    for words, calls in READS.items():
        for call in calls:
            yield [*words.split(), *(word.format(**ids) for word in call)]


PAGES = (
    observe, runs, approvals, schedule, explain, builder, timeline, load, calendars, gateways, health,
)  # fmt: skip
NAMED = {
    "/schedules": "schedule",
    "/builder": "schedule",
    "/gateways": "gateway",
    "/runs": "run",
    "/calendars": "calendar",
}


def paths(ids: Mapping[str, str]) -> Iterator[str]:
    """The console's pages that only read, by its routes."""
    for route in (route for module in PAGES for route in module.routes):
        assert isinstance(route, Route)
        if "GET" in (route.methods or ()):
            head, _, rest = route.path.partition("/{id:uuid}")
            yield f"{head}/{ids[NAMED[head]]}{rest}" if "{" in route.path else route.path


def pages(dsn: str, user: str, ids: Mapping[str, str]) -> Iterator[tuple[str, int, str]]:
    """A running console's pages as that tenant: path, status and text of each."""
    with running(dsn, "console", "--as", user, "--port", "0") as process:
        process.says("token=")
        link = urlsplit(next(word for word in process.output.split() if "token=" in word))
        door = http.client.HTTPConnection(link.netloc, timeout=120)
        door.request("GET", f"/?{link.query}")
        answer = door.getresponse()
        answer.read()
        cookie = {"Cookie": (answer.headers["set-cookie"] or "").split(";")[0]}
        for path in paths(ids):
            door.request("GET", path, headers=cookie)
            answer = door.getresponse()
            yield path, answer.status, answer.read().decode()
