"""Decide what an install has to do. Pure: facts in, plan or refusal out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from lf_sql.bundle import CHECKSUM_ALGORITHM, OWN_SCHEMAS, Bundle, Migration
from lf_sql.compare import Damage
from lf_sql.errors import Refusal


@dataclass(frozen=True)
class Applied:
    """A row of lf_sql.migrations."""

    version: int
    slug: str
    checksum: str
    checksum_algorithm: int


@dataclass(frozen=True)
class Installed:
    """The newest row of lf_sql.installs."""

    product_version: str
    source_digest: str
    digest_algorithm: int
    server_major: int
    role_map: Mapping[str, str]


@dataclass(frozen=True)
class State:
    """What is in the database now."""

    applied: tuple[Applied, ...] = ()
    installed: Installed | None = None
    has_ledger: bool = False
    schemas: frozenset[str] = frozenset()
    foreign_functions: tuple[str, ...] = ()  # in public, with a name of ours


@dataclass(frozen=True)
class Plan:
    """Nothing to do where `reasons` is empty."""

    migrations: tuple[Migration, ...] = ()
    reasons: tuple[str, ...] = ()
    role_map: Mapping[str, str] = field(default_factory=dict)
    is_mending: bool = False  # the same version over itself: the expectation stays
    damage: tuple[Damage, ...] = ()  # there before an upgrade, which is not to bless it

    @property
    def is_pending(self) -> bool:
        return bool(self.reasons)


def version_key(version: str) -> tuple[int, ...]:
    """`1.10.2` after `1.9`; anything behind the numbers does not count."""
    numbers = []
    for part in version.split("."):
        digits = part[: len(part) - len(part.lstrip("0123456789"))]
        if not digits:
            break
        numbers.append(int(digits))
    return tuple(numbers)


def make_plan(
    bundle: Bundle,
    state: State,
    *,
    role_map: Mapping[str, str],
    server_major: int,
    findings: int = 0,
) -> Plan:
    """Compare what this version installs with what is there; raise Refusal where they clash."""
    _refuse_strangers(state)
    _refuse_older(bundle, state)
    _refuse_edited(bundle, state)
    installed = state.installed
    done = {row.version for row in state.applied}
    pending = tuple(m for m in bundle.migrations if m.version not in done)
    reasons = [f"migration {m.version:04d}_{m.slug}" for m in pending]
    if installed is None:
        reasons.append("first install")
    else:
        if installed.product_version != bundle.version:
            reasons.append(f"version {installed.product_version} to {bundle.version}")
        if (installed.source_digest, installed.digest_algorithm) != (
            bundle.digest,
            CHECKSUM_ALGORITHM,
        ):
            reasons.append("sources changed")
        if dict(installed.role_map) != dict(role_map):
            reasons.append("roles changed")
        if installed.server_major != server_major:
            reasons.append(f"server moved from {installed.server_major} to {server_major}")
    is_mending = not reasons and findings > 0
    if is_mending:
        reasons.append(f"{findings} finding{'s' if findings > 1 else ''} of verify")
    return Plan(pending, tuple(reasons), role_map, is_mending)


def _refuse_strangers(state: State) -> None:
    if state.has_ledger:
        return
    taken = sorted(state.schemas & set(OWN_SCHEMAS))
    if taken:
        raise Refusal(
            f"schema {taken[0]} exists already and is not from lf-sql",
            f"rename or drop it, or install into another database: {', '.join(taken)}",
        )
    if state.foreign_functions:
        raise Refusal(
            f"function public.{state.foreign_functions[0]} exists already and is not from lf-sql",
            f"rename or drop it, or install into another database: "
            f"{', '.join(state.foreign_functions)}",
        )


def _refuse_older(bundle: Bundle, state: State) -> None:
    known = {m.version for m in bundle.migrations}
    unknown = [row for row in state.applied if row.version not in known]
    installed = state.installed.product_version if state.installed else bundle.version
    if unknown or version_key(installed) > version_key(bundle.version):
        raise Refusal(
            f"the database is newer: it has lf-sql {installed}, this is {bundle.version}",
            f"upgrade the command: pip install --upgrade 'lf-sql>={installed}'",
        )


def _refuse_edited(bundle: Bundle, state: State) -> None:
    known = {m.version: m for m in bundle.migrations}
    for row in state.applied:
        migration = known[row.version]
        if row.checksum_algorithm == CHECKSUM_ALGORITHM and row.checksum != migration.checksum:
            raise Refusal(
                f"migration {row.version:04d}_{row.slug} is applied, but its text has changed",
                "use the lf-sql that installed this database, or restore the file from its release",
            )
