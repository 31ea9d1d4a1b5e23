"""The same SQL for other installers: a Supabase migration, an extension. No database here.

One text serves a first install and every upgrade, as `lf-sql install` does it: the ledger is asked
before anything that holds state is done, definitions are replayed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from lf_sql import bundle as bundles
from lf_sql import preflight
from lf_sql.apply import BEFORE_SEEDS
from lf_sql.bundle import CHECKSUM_ALGORITHM, Bundle, Migration, Source
from lf_sql.errors import LfSqlError

SETTINGS = {
    "search_path": "pg_catalog, pg_temp",
    "check_function_bodies": "off",
    "client_min_messages": "warning",
}
_FILE = re.compile(r"\d{14}_lf_sql_[0-9a-z_]+\.sql")
_VIEW = re.compile(r"^create (?:or replace )?view ([a-z_]+\.[a-z0-9_]+)", re.MULTILINE)


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
    path.write_text(text, encoding="utf-8")
    return path


def supabase_script(bundle: Bundle) -> Iterator[str]:
    """For one session, which is left as it was."""
    yield banner(bundle, "lf-sql export --supabase DIR")
    yield "-- Safe to run again: what the ledger knows is passed over, all else is replayed.\n\n"
    yield "".join(f"set {name} = {value};\n" for name, value in SETTINGS.items())
    yield from body(bundle)
    yield part("jobs", jobs(bundle))
    yield "\n" + "".join(f"reset {name};\n" for name in reversed(SETTINGS))


def banner(bundle: Bundle, command: str) -> str:
    return f"-- Made from lf-sql {bundle.version} by `{command}`. Do not edit: make it anew.\n"


def body(bundle: Bundle, also: Sequence[Source] = ()) -> Iterator[str]:
    """Everything but the jobs, for one transaction under SETTINGS; `also`: more functions."""
    newest = str(bundle.migrations[-1].version)
    version = literal(bundle.version)
    yield part("whose it is", preflight.script())
    yield part("refusals", filled("export_refuse", newest=newest, version=version))
    yield part("roles.sql", bundle.scripts["roles"])
    for migration in bundle.migrations:
        yield part(migration.label, _guarded(bundle, migration))
    definitions = [source for source in bundle.sources if source.kind != "seed"]
    for source in ordered([*definitions, *also]):
        yield part(source.label, source.sql)
    yield part("ledger: sources", _sources(replace(bundle, sources=(*bundle.sources, *also))))
    for name in BEFORE_SEEDS:
        yield part(f"{name}.sql", bundle.scripts[name])
    for source in bundle.sources:
        if source.kind == "seed":
            yield part(source.label, source.sql)
    yield part("assertions.sql", bundle.scripts["assertions"])
    yield part("ledger: install", _install(bundle))


def ordered(sources: Iterable[Source]) -> list[Source]:
    """Their order of replay, but a view before the functions whose head names it.

    Bodies are not checked while they are made; a head (`returns setof a_view`) is.
    """
    waiting = list(sources)
    views = {name: s for s in waiting if s.kind == "view" for name in _VIEW.findall(s.sql)}
    missing = {s.label: _views_in_head(s, views) for s in waiting}
    done: list[Source] = []
    while waiting:
        ready = [source for source in waiting if not missing[source.label]]
        if not ready:
            raise LfSqlError(f"views need each other: {', '.join(s.label for s in waiting)}")
        done += ready
        made = {name for name, view in views.items() if view in ready}
        waiting = [source for source in waiting if source not in ready]
        missing = {label: names - made for label, names in missing.items()}
    return done


def _views_in_head(source: Source, views: dict[str, Source]) -> set[str]:
    head = re.split(r"^as \$", source.sql, maxsplit=1, flags=re.MULTILINE)[0]
    return {
        name
        for name, view in views.items()
        if view is not source and re.search(rf"\b{re.escape(name)}\b", head)
    }


def part(label: str, sql: str) -> str:
    sql = sql.strip()
    return f"\n-- {label}\n{sql}{'' if sql.endswith(';') else ';'}\n"


def literal(value: str) -> str:
    """A text as SQL, whatever standard_conforming_strings says."""
    tag = "v"
    while f"${tag}$" in value:
        tag += "v"
    return f"${tag}${value}${tag}$"


def filled(name: str, **values: str) -> str:
    """The template sql/queries/NAME.sql without its header, with its @marks@ filled in."""
    template = re.sub(r"\A(?:--[^\n]*\n)+", "", bundles.query(name))
    return re.sub(r"@([a-z]+)@", lambda mark: values[mark[1]], template)


def jobs(bundle: Bundle) -> str:
    return filled("export_jobs", jobs=job_calls(bundle))


def job_calls(bundle: Bundle) -> str:
    """Statements of PL/pgSQL that register them."""
    return "\n".join(f"execute {literal(job.sql.strip())};" for job in bundle.jobs)


def _guarded(bundle: Bundle, migration: Migration) -> str:
    return filled(
        "export_migration",
        number=str(migration.version),
        slug=literal(migration.slug),
        checksum=literal(migration.checksum),
        algorithm=str(CHECKSUM_ALGORITHM),
        version=literal(bundle.version),
        sql=literal(migration.sql.strip()),
    )


def _sources(bundle: Bundle) -> str:
    rows = (
        f"  ({', '.join(map(literal, texts))}, {json.dumps(is_replaceable)})"
        for *texts, is_replaceable in bundle.objects
    )
    columns = "kind, schema_name, object_name, owned_by, is_replaceable"
    head = ("delete from lf_sql.sources;", f"insert into lf_sql.sources ({columns}) values")
    return "\n".join([*head, ",\n".join(rows)])


def _install(bundle: Bundle) -> str:
    return filled(
        "export_install",
        version=literal(bundle.version),
        digest=literal(bundle.digest),
        algorithm=str(CHECKSUM_ALGORITHM),
        catalogue=bundles.query("catalogue").strip().rstrip(";"),
    )
