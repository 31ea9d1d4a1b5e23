"""Find the SQL that this version ships, and read it. No database here."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

from lf_sql import __version__, manifest
from lf_sql.errors import LfSqlError

CHECKSUM_ALGORITHM = 1  # sha256 of the text with line ends as LF; the path is not part of it
SCHEMAS = ("lf_sql", "lensers", "automation", "lenses", "agents", "public")  # the order of replay
OWN_SCHEMAS = (
    "lf_sql",
    "lensers",
    "lenses",
    "agents",
    "automation",
)  # ours alone; `public` is shared
LAYERS = {"functions": "function", "views": "view", "triggers": "trigger", "policies": "policy"}

_MIGRATION = re.compile(r"(\d{4})_([a-z0-9_]+)\.sql")
_OWNER = re.compile(r"^-- owner: (lf_sql_owner|lf_sql_engine)\s*$", re.MULTILINE)
_CREATED = re.compile(
    r"^create (?:or replace )?(?:function|procedure) ([a-z_]+)\.([a-z0-9_]+)", re.MULTILINE
)
_JOB = re.compile(r"^-- (job|schedule|requires|place|lanes): (.+?)\s*$", re.MULTILINE)
_NAME = re.compile(r"\b[a-z_]+\.[a-z0-9_]+\b")
_COMMENT = re.compile(r"^--[^\n]*\n", re.MULTILINE)


def checksum(text: str) -> str:
    """Digest of a file's text; the same wherever the file lies and however its lines end."""
    return hashlib.sha256(text.replace("\r\n", "\n").encode()).hexdigest()


@dataclass(frozen=True)
class Migration:
    """A step that holds state: applied once, in order."""

    version: int
    slug: str
    sql: str

    @property
    def label(self) -> str:
        return f"migrations/{self.version:04d}_{self.slug}.sql"

    @property
    def checksum(self) -> str:
        return checksum(self.sql)

    @property
    def created_functions(self) -> list[tuple[str, str]]:
        """Functions that a migration makes, so that an operator may replace them."""
        return [(m[1], m[2]) for m in _CREATED.finditer(self.sql)]


@dataclass(frozen=True)
class Source:
    """A definition: replayed as a whole whenever anything is pending."""

    label: str
    kind: str  # function, view, trigger, policy, seed, script
    schema: str
    name: str
    sql: str

    @property
    def owned_by(self) -> str:
        """`engine` where the header says `-- owner: lf_sql_engine`, else `owner`."""
        found = _OWNER.search(self.sql)
        return "engine" if found and found[1] == "lf_sql_engine" else "owner"


@dataclass(frozen=True)
class Job:
    """A pg_cron job, and the procedure without which it is not registered.

    `place`: only where pg_cron lives `here`, in our own database, or `elsewhere`.
    `lane`: only where dispatch_lanes is at least that.
    """

    label: str
    name: str
    schedule: str
    requires: str
    command: str
    place: str = ""
    lane: int = 1


@dataclass(frozen=True)
class Bundle:
    """Everything that one version installs."""

    version: str
    migrations: tuple[Migration, ...]
    sources: tuple[Source, ...]
    scripts: dict[str, str]
    jobs: tuple[Job, ...]

    @cached_property
    def digest(self) -> str:
        """One digest over all that is replayed."""
        whole = hashlib.sha256()
        for source in self.sources:
            part = f"{source.kind}\0{source.schema}\0{source.name}\0{checksum(source.sql)}\n"
            whole.update(part.encode())
        for name in sorted(self.scripts):
            whole.update(f"script\0{name}\0{checksum(self.scripts[name])}\n".encode())
        return whole.hexdigest()

    @property
    def objects(self) -> list[tuple[str, str, str, str, bool]]:
        """Rows of lf_sql.sources: kind, schema, name, owned by, replaceable by an operator."""
        rows = {
            ("function", schema, name): ("owner", True)
            for migration in self.migrations
            for schema, name in migration.created_functions
        }
        rows |= {
            (source.kind, source.schema, source.name): (source.owned_by, False)
            for source in self.sources
            if source.kind in ("function", "view")
        }
        return [(*key, *value) for key, value in sorted(rows.items())]


def sql_root() -> Path:
    """The folder `sql/`: inside the wheel, or at the top of a checkout."""
    package = Path(__file__).resolve().parent
    for folder in (package / "sql", package.parents[1] / "sql"):
        if (folder / "migrations").is_dir():
            return folder
    raise LfSqlError(
        "the SQL files of lf-sql are missing from this installation",
        "reinstall it: pip install --force-reinstall lf-sql",
    )


def load(root: Path | None = None, version: str = __version__) -> Bundle:
    """Read the whole tree. Raises LfSqlError where a file's name and place do not fit.

    The files of a wheel must be those that it was built with; in a checkout git knows.
    """
    if root is None:
        root = sql_root()
        if root.parent == Path(__file__).resolve().parent:
            manifest.check(root)
    return Bundle(
        version=version,
        migrations=tuple(_migrations(root)),
        sources=tuple(_sources(root)),
        scripts={
            name: _read(root / f"{name}.sql")
            for name in ("roles", "ownership", "grants", "assertions")
        },
        jobs=tuple(_jobs(root)),
    )


def query(name: str) -> str:
    """A query that the installer asks and that is not installed: sql/queries/<name>.sql."""
    return _read(sql_root() / "queries" / f"{name}.sql")


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8").replace("\r\n", "\n")


def _migrations(root: Path) -> Iterator[Migration]:
    seen: dict[int, str] = {}
    for path in sorted((root / "migrations").glob("*.sql")):
        found = _MIGRATION.fullmatch(path.name)
        if not found:
            raise LfSqlError(f"a migration is named NNNN_slug.sql, not {path.name}")
        version = int(found[1])
        if version in seen:
            raise LfSqlError(f"two migrations have the number {version:04d}: {path.name}")
        seen[version] = path.name
        yield Migration(version, found[2], _read(path))


def _sources(root: Path) -> Iterator[Source]:
    """Functions, views, triggers and policies, each behind what it names; then the seeds."""
    yield from ordered(source for layer in LAYERS for source in _layer(root, layer))
    for path in sorted((root / "seeds").glob("*.sql")):
        yield Source(path.relative_to(root).as_posix(), "seed", "", path.stem, _read(path))


def ordered(sources: Iterable[Source]) -> list[Source]:
    """The given order, except that a source comes after each function or view that it names.

    Bodies in $$ do not count: PostgreSQL does not look into them before a call.
    """
    by_label = {source.label: source for source in sources}
    makers = {
        f"{source.schema}.{source.name}": source.label
        for source in by_label.values()
        if source.kind in ("function", "view")
    }
    graph = {
        label: {
            makers[name]
            for name in _NAME.findall(_COMMENT.sub("", source.sql).partition("$$")[0])
            if makers.get(name, label) != label
        }
        for label, source in by_label.items()
    }
    try:
        return [by_label[label] for label in TopologicalSorter(graph).static_order()]
    except CycleError as error:
        raise LfSqlError(f"sources need each other: {', '.join(error.args[1])}") from None


def _layer(root: Path, layer: str) -> Iterator[Source]:
    for schema in SCHEMAS:
        paths = sorted((root / schema / layer).rglob("*.sql"), key=lambda p: (p.stem, str(p)))
        for path in paths:
            label = path.relative_to(root).as_posix()
            yield Source(label, LAYERS[layer], schema, path.stem, _read(path))


def _jobs(root: Path) -> Iterator[Job]:
    """The header's fields and the command below it, which runs in our database behind a guard."""
    guard = _COMMENT.sub("", _read(root / "queries" / "job_command.sql")).strip()
    for path in sorted((root / "jobs").glob("*.sql")):
        sql = _read(path)
        head = {m[1]: m[2] for m in _JOB.finditer(sql)}
        if set(head) - {"place", "lanes"} != {"job", "schedule", "requires"}:
            raise LfSqlError(
                f"jobs/{path.name} must name its job, its schedule and what it requires"
            )
        command = _COMMENT.sub("", sql).strip()
        if head.get("place") != "elsewhere":
            indented = command.replace("\n", "\n  ")
            command = guard.replace("@procedure@", head["requires"]).replace("@command@", indented)
        command = command.removesuffix(";")
        first, _, last = head.get("lanes", "1-1").partition("-")
        for lane in range(int(first), int(last) + 1):
            yield Job(
                label=f"jobs/{path.name}",
                name=head["job"].replace("@lane@", str(lane)),
                schedule=head["schedule"],
                requires=head["requires"],
                command=command.replace("'@lane@'", str(lane)),
                place=head.get("place", ""),
                lane=lane,
            )
