"""What an install does, in order, ledger rows included. Only this module says so.

`apply` runs the steps, `--dry-run` prints them, `export` and the extension wrap them. Each is SQL
without parameters, for one transaction under db.STEADY, and knows no connection.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

from lf_sql import bundle as bundles
from lf_sql import roles
from lf_sql.bundle import CHECKSUM_ALGORITHM, Bundle, Migration, Source
from lf_sql.plan import Plan
from lf_sql.template import filled, literal

BEFORE_SEEDS = ("ownership", "grants")
LOCKS = "locks"
INSTALL = "ledger: install"


@dataclass(frozen=True)
class Step:
    """One piece of the script; `migration` where it is to be done only once."""

    label: str
    sql: str
    migration: Migration | None = None
    source: Source | None = None


def steps(bundle: Bundle, plan: Plan, also: Sequence[Source] = ()) -> Iterator[Step]:
    """`also`: functions that only the caller's way of installing has.

    Replacing a function locks no table: without a migration before them they come before the locks.
    """
    sources = [*(source for source in bundle.sources if source.kind != "seed"), *also]
    early = () if plan.migrations else tuple(takewhile(lambda s: s.kind == "function", sources))
    for source in early:
        yield _source(source, plan)
    yield Step(LOCKS, filled("lock_tables"))
    yield Step("roles.sql", bundle.scripts["roles"])
    for migration in plan.migrations:
        yield Step(migration.label, _migration(bundle, plan, migration), migration=migration)
    seeds = [source for source in bundle.sources if source.kind == "seed"]
    for source in sources[len(early) :]:
        yield _source(source, plan)
    yield Step("ledger: sources", _sources(replace(bundle, sources=(*bundle.sources, *also))))
    for name in BEFORE_SEEDS:
        yield _script(bundle, plan, name)
    for source in seeds:  # rows that functions write once they have their owners
        yield _source(source, plan)
    yield _script(bundle, plan, "assertions")
    if not plan.is_mending:
        yield Step(INSTALL, _install(bundle, plan))
        yield Step("ledger: catalogue", _catalogue())
    if plan.damage:
        yield Step("ledger: damage", _damage(plan))


def _script(bundle: Bundle, plan: Plan, name: str) -> Step:
    text = roles.render(bundle.scripts[name], plan.role_map, grants=name == "grants")
    return Step(f"{name}.sql", text)


def _source(source: Source, plan: Plan) -> Step:
    text = roles.render(source.sql, plan.role_map, grants=source.kind == "policy")
    return Step(source.label, text, source=source)


def _migration(bundle: Bundle, plan: Plan, migration: Migration) -> str:
    row = filled(
        "step_migration",
        number=str(migration.version),
        slug=literal(migration.slug),
        checksum=literal(migration.checksum),
        algorithm=str(CHECKSUM_ALGORITHM),
        version=literal(bundle.version),
    )
    text = roles.render(migration.sql, plan.role_map, grants=True).rstrip()
    return f"{text}{'' if text.endswith(';') else ';'}\n\n{row}"


def _sources(bundle: Bundle) -> str:
    """Before ownership and grants, which read it."""
    rows = (
        f"({', '.join(map(literal, texts))}, {json.dumps(is_replaceable)})"
        for *texts, is_replaceable in bundle.objects
    )
    return filled("step_sources", rows=",\n".join(rows))


def _install(bundle: Bundle, plan: Plan) -> str:
    return filled(
        "step_install",
        version=literal(bundle.version),
        digest=literal(bundle.digest),
        algorithm=str(CHECKSUM_ALGORITHM),
        roles=literal(json.dumps(dict(plan.role_map))),
        reason=literal("; ".join(plan.reasons)),
    )


def _catalogue() -> str:
    return filled("step_catalogue", catalogue=bundles.query("catalogue").strip().rstrip(";"))


def _damage(plan: Plan) -> str:
    rows = [
        {"kind": d.kind, "identity": d.identity, "expected": d.expected, "found": d.found}
        for d in plan.damage
    ]
    return filled("step_damage", rows=literal(json.dumps(rows)))
