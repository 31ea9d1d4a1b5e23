"""The step `export` of `make release-check`: what callers of the last release, and its databases, rely on stands."""

from __future__ import annotations

import difflib
import re
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from lf_sql import __version__
from lf_sql.plan import version_key
from tests.install.releases import RELEASES, Release
from tests.support.release_steps import ROOT, Failed, run

_FUNCTION = re.compile(r"^create or replace function public\.(\w+)\(([^$]*?)\)\s*returns\b", re.M)
_DEFAULT = re.compile(r"\s+default\s+", re.IGNORECASE)


def last_release() -> Release:
    older = [one for one in RELEASES if version_key(one.version) < version_key(__version__)]
    return max(older, key=lambda one: version_key(one.version))


def export(folder: Path) -> str:
    """Released migrations stand, calls of the last release still fit; the whole difference goes to a file."""
    last = last_release()
    with tempfile.TemporaryDirectory() as name:
        old = last.unpack(Path(name))
        troubles = [
            *changed_migrations(old / "sql", ROOT / "sql"),
            *broken_calls(old / "sql", ROOT / "sql"),
        ]
        texts = [_exported(old / "installer"), _exported(ROOT / "installer")]
    lines = list(
        difflib.unified_diff(
            *(text.splitlines() for text in texts), last.version, __version__, n=1, lineterm=""
        )
    )
    (folder / "export.diff").write_text("\n".join(lines) + "\n", encoding="utf-8")
    if troubles:
        raise Failed("; ".join(troubles))
    signs = [
        sum(line.startswith(sign) and not line.startswith(sign * 3) for line in lines)
        for sign in "+-"
    ]
    return f"since {last.version}: +{signs[0]} -{signs[1]} lines, migrations stand, calls fit; {folder / 'export.diff'}"


def _exported(installer: Path) -> str:
    with tempfile.TemporaryDirectory() as name:
        command = [sys.executable, "-m", "lf_sql", "export", "--supabase", name]
        run(*command, cwd=Path("/"), env={"PYTHONPATH": str(installer)})
        [path] = Path(name).glob("*.sql")
        return path.read_text(encoding="utf-8")


def changed_migrations(old: Path, new: Path) -> Iterator[str]:
    for path in sorted((old / "migrations").glob("*.sql")):
        now = new / "migrations" / path.name
        if not now.exists():
            yield f"the released migration {path.name} is gone"
        elif now.read_bytes() != path.read_bytes():
            yield f"the released migration {path.name} has been changed"


def broken_calls(old: Path, new: Path) -> Iterator[str]:
    """Functions of public that take no longer what they took: by position, by name, or at all."""
    now = signatures(new)
    for name, before in signatures(old).items():
        if name not in now:
            yield f"public.{name} is gone"
            continue
        after = now[name]
        if [one[:2] for one in after[: len(before)]] != [one[:2] for one in before]:
            yield f"public.{name} takes other parameters"
        elif not all(has_default for _, _, has_default in after[len(before) :]):
            yield f"public.{name} wants more parameters"
        elif any(
            was and not now_has for (_, _, was), (_, _, now_has) in zip(before, after, strict=False)
        ):
            yield f"public.{name} wants what it had a default for"


Parameter = tuple[str, str, bool]


def signatures(sql: Path) -> dict[str, list[Parameter]]:
    """Of each function of public: name, type, and whether there is a default."""
    found = {}
    for path in (sql / "public" / "functions").rglob("*.sql"):
        if match := _FUNCTION.search(path.read_text(encoding="utf-8")):
            found[match[1]] = [_parameter(part) for part in _parts(match[2])]
    return found


def _parts(text: str) -> Iterator[str]:
    """Split by the commas that stand in no literal and no brackets."""
    for part in re.findall(r"(?:'(?:[^']|'')*'|\([^()]*\)|\[[^\]]*\]|[^,'(\[])+", text):
        if part.strip():
            yield part.strip()


def _parameter(text: str) -> Parameter:
    head, *default = _DEFAULT.split(text, 1)
    name, _, kind = head.partition(" ")
    return name, " ".join(kind.split()), bool(default)
