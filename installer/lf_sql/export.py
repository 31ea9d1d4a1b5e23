"""The same SQL for other installers: a Supabase migration, an extension. No database here.

One text serves a first install and every upgrade, as `lf-sql install` does it: the ledger is asked
before anything that holds state is done, definitions are replayed.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

from lf_sql import cron_extension, preflight
from lf_sql.apply import part
from lf_sql.bundle import Bundle, Source
from lf_sql.plan import Plan
from lf_sql.steps import INSTALL, Step, steps
from lf_sql.template import filled, literal

SETTINGS = {
    "search_path": "pg_catalog, pg_temp",
    "check_function_bodies": "off",
    "client_min_messages": "warning",
}
_FILE = re.compile(r"\d{14}_lf_sql_[0-9a-z_]+\.sql")


def supabase(bundle: Bundle, folder: Path) -> Path:
    """Write this version's migration and return it; where it is there already nothing is written.

    Files of older versions stay: what they did is in the ledger, the new one goes on from there.
    """
    text = "".join(supabase_script(bundle))
    folder.mkdir(parents=True, exist_ok=True)
    for path in sorted(folder.glob("*.sql"), reverse=True):
        if _FILE.fullmatch(path.name) and path.read_text(encoding="utf-8") == text:
            return path
    # The Supabase CLI runs files by the order of their stamps.
    stamps = [int(path.name[:14]) for path in folder.glob("*.sql") if path.name[:14].isdigit()]
    now = int(datetime.now(UTC).strftime("%Y%m%d%H%M%S"))
    stamp = max(now, *(stamp + 1 for stamp in stamps)) if stamps else now
    slug = re.sub(r"[^0-9a-z]+", "_", bundle.version)
    path = folder / f"{stamp}_lf_sql_{slug}.sql"
    write_whole(path, text)
    return path


def write_whole(path: Path, text: str) -> None:
    """All of it, or no file of this name: half a migration would be run as one.

    OSError: it cannot be written.
    """
    part = path.with_name(f".{path.name}.part")  # which no tool takes for a migration
    try:
        with part.open("w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        part.rename(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def supabase_script(bundle: Bundle) -> Iterator[str]:
    """One transaction: if it is refused nothing of it runs, even where errors are ignored."""
    yield banner(bundle, "lf-sql export --supabase DIR")
    yield "-- Safe to run again: what the ledger knows is passed over, all else is replayed.\n\n"
    yield "begin;\n"
    yield "".join(f"set local {name} = {value};\n" for name, value in SETTINGS.items())
    yield from body(bundle)
    yield part("jobs", cron_extension.script(bundle))
    yield "\ncommit;\n"


def banner(bundle: Bundle, command: str) -> str:
    return f"-- Made from lf-sql {bundle.version} by `{command}`. Do not edit: generate it again.\n"


def body(bundle: Bundle, also: Sequence[Source] = ()) -> Iterator[str]:
    """Everything but the jobs, for one transaction under SETTINGS; `also`: more functions."""
    newest = str(bundle.migrations[-1].version)
    version = literal(bundle.version)
    yield part("whose it is", preflight.script())
    yield part("refusals", filled("export_refuse", newest=newest, version=version))
    plan = Plan(bundle.migrations, ("exported SQL",))
    for step in steps(bundle, plan, also):
        yield part(step.label, _guarded(bundle, step))


def _guarded(bundle: Bundle, step: Step) -> str:
    """What must not be done twice asks the ledger first."""
    if step.migration:
        return filled(
            "export_migration",
            number=str(step.migration.version),
            slug=literal(step.migration.slug),
            checksum=literal(step.migration.checksum),
            sql=literal(step.sql.strip()),
        )
    if step.label == INSTALL:
        return filled(
            "export_install",
            version=literal(bundle.version),
            digest=literal(bundle.digest),
            sql=literal(step.sql.strip()),
        )
    return step.sql
