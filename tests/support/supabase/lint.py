"""`make lint-supabase`: Supabase's own linter over a database prepared like Supabase's, with lf-sql installed.

Fails for whatever exceptions.toml does not list. Says first that the linter bites: a planted fault must be reported."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import tomllib
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from tests.support.database import connect
from tests.support.setups import SupabaseState

CLI = Path(sys.prefix) / "supabase" / "node_modules" / ".bin" / "supabase"
EXCEPTIONS: dict[str, dict[str, str]] = tomllib.loads(
    (Path(__file__).parent / "exceptions.toml").read_text()
)
SCHEMAS = "lensers,lenses,agents,automation,public"
PLANTED = "create table lenses.planted (id integer); create view public.planted as select * from lenses.planted"


def ask(command: str, url: str, *options: str) -> Any:
    """The CLI's answer; it keeps its traces in a home of its own."""
    with tempfile.TemporaryDirectory() as home:
        run = subprocess.run(
            [
                str(CLI),
                "db",
                command,
                "--db-url",
                url,
                *options,
                "--output-format",
                "json",
                "--agent",
                "no",
            ],
            capture_output=True,
            text=True,
            check=False,
            cwd=home,
            env={"HOME": home, "PATH": os.environ["PATH"], "DO_NOT_TRACK": "1"},
        )
    try:
        answer = json.loads(run.stdout)
    except json.JSONDecodeError:
        raise SystemExit(f"supabase db {command}: {run.stdout}{run.stderr}") from None
    if isinstance(answer, dict) and "error" in answer:
        raise SystemExit(f"supabase db {command}: {answer['error']}")
    return answer["results"] if isinstance(answer, dict) else answer


def advisors(url: str) -> list[str]:
    found = ask("advisors", url, "--type", "all", "--level", "info", "--fail-on", "none")
    return [f"{one['name']}: {one['detail']}" for one in found]


def lint(url: str) -> list[str]:
    found = ask("lint", url, "-s", SCHEMAS, "--level", "warning")
    return [f"{one['function']}: {issue['message']}" for one in found for issue in one["issues"]]


def judge(kind: str, found: list[str]) -> list[str]:
    """What is neither listed nor found where it is listed."""
    listed = EXCEPTIONS[kind]
    strange = [line for line in found if not any(fnmatchcase(line, one) for one in listed)]
    stale = [one for one in listed if not any(fnmatchcase(line, one) for line in found)]
    return [f"{kind}: {line}" for line in strange] + [
        f"{kind}: listed, not found: {one}" for one in stale
    ]


def main() -> int:
    state = SupabaseState()
    try:
        _ = state.template
        name = state.fresh(installed=True)
        url = f"{state.server.url(name, 'supabase_admin')}?sslmode=disable"
        with connect(state.server.dsn(name, "supabase_admin")) as conn:
            conn.execute("create extension plpgsql_check")
            found = {"advisors": advisors(url), "lint": lint(url)}
            conn.execute(PLANTED)
            bites = {line.partition(":")[0] for line in advisors(url)}
    finally:
        state.close()
    wrong = [line for kind, lines in found.items() for line in judge(kind, lines)]
    if not {"rls_disabled_in_public", "security_definer_view"} & bites:
        wrong.append("advisors: a planted view was not reported")
    print("\n".join(wrong) or "supabase db advisors, db lint: nothing that is not listed")
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
