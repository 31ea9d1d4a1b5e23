"""The steps of `make release-check`: each gets a folder for what it leaves, returns what it found, and raises Failed."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from lf_sql import __version__
from tests.install.releases import RELEASES
from tests.support.cli import environment

ROOT = Path(__file__).parents[2]
BIN = Path(sys.executable).parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
# What nobody gets who installs the package.
OWN_EXTRAS = ("dev",)


class Failed(Exception):
    """Why the version must not be released."""


def run(*command: str | Path, cwd: Path = ROOT, env: Mapping[str, str] | None = None) -> str:
    """What it prints; Failed with its last line."""
    done = subprocess.run(
        [str(word) for word in command], cwd=cwd, env=environment(env), text=True, check=False,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    if done.returncode:
        last = (done.stdout.strip().splitlines() or ["it said nothing"])[-1]
        raise Failed(f"{Path(command[0]).name}: exit {done.returncode}: {last}")
    return done.stdout


def made(folder: Path, target: str) -> str:
    """`make TARGET`, its output in a log; the last line."""
    log = folder / f"{target}.log"
    with log.open("w", encoding="utf-8") as file:
        done = subprocess.run(
            ["make", "--no-print-directory", target], cwd=ROOT, env=environment(), check=False,
            stdout=file, stderr=subprocess.STDOUT,
        )  # fmt: skip
    lines = log.read_text(encoding="utf-8", errors="replace").strip().splitlines() or [
        "it said nothing"
    ]
    if done.returncode:
        raise Failed(f"make {target}: exit {done.returncode}, see {log}")
    return lines[-1]


def matrix(folder: Path) -> str:
    made(folder, "test-matrix")
    lines = (folder / "test-matrix.log").read_text(encoding="utf-8").splitlines()
    return "; ".join(line for line in lines if re.match(r"PostgreSQL \d+: (ok|FAILED)", line))


def proof(folder: Path) -> str:
    return made(folder, "proof")


def bench(folder: Path) -> str:
    made(folder, "bench")
    rows = (folder / "bench.log").read_text(encoding="utf-8").splitlines()
    return f"{sum(row.rstrip().endswith('| yes |') for row in rows)} figures reach what they must"


def changelog(folder: Path, text: str | None = None) -> str:
    """The newest chapter is this version's, and says something."""
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8") if text is None else text
    chapters = re.split(r"^## ", text, flags=re.MULTILINE)[1:]
    title = chapters[0].split()[0] if chapters else "nothing"
    if title != __version__:
        raise Failed(f"CHANGELOG.md begins with {title}, not with {__version__}")
    lines = sum(line.startswith("* ") for line in chapters[0].splitlines())
    if not lines:
        raise Failed(f"the chapter {__version__} of CHANGELOG.md is empty")
    return f"{__version__} has {lines} lines"


def image(folder: Path) -> str:
    run(BIN / "hadolint", "docker/Dockerfile")
    run(BIN / "shellcheck", "docker/entrypoint.sh")
    return "docker/Dockerfile and docker/entrypoint.sh are clean"


def extension(folder: Path) -> str:
    """As `make extension`, with scripts that update from each release."""
    place = folder / "extension"
    shutil.rmtree(place, ignore_errors=True)
    older = [
        word for one in RELEASES if one.version != __version__ for word in ("--from", one.version)
    ]
    run(BIN / "python", "-m", "lf_sql.extension", place, *older)
    control = (place / "lf_sql.control").read_text(encoding="utf-8")
    if f"default_version = '{__version__}'" not in control:
        raise Failed(f"lf_sql.control does not name {__version__}")
    scripts = sorted(path.name for path in place.glob("*.sql"))
    return f"lf_sql.control, {', '.join(scripts)}"


def epoch() -> str:
    """The time of the last commit, for everything that is stamped; where there is no git, ZIP's first day."""
    done = subprocess.run(
        ["git", "-C", str(ROOT), "log", "-1", "--format=%ct"],
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout.strip() or "315532800"


@contextmanager
def tree(name: str) -> Iterator[Path]:
    """A copy of what the wheel is built from, at a path of another length, with other times and modes."""
    with tempfile.TemporaryDirectory(prefix=name) as parent:
        copy = Path(parent) / name
        shutil.copytree(ROOT / "installer", copy / "installer", copy_function=shutil.copyfile,
                        ignore=shutil.ignore_patterns("__pycache__"))  # fmt: skip
        shutil.copytree(ROOT / "sql", copy / "sql", copy_function=shutil.copyfile)
        for file in ("pyproject.toml", "README.md", "LICENSE"):
            shutil.copyfile(ROOT / file, copy / file)
        yield copy


def built(folder: Path, name: str, **env: str) -> Path:
    """The wheel, built in a copy of the tree."""
    out = folder / name
    shutil.rmtree(out, ignore_errors=True)
    with tree(name) as source:
        command = [
            BIN / "python",
            "-m",
            "build",
            "--wheel",
            "--no-isolation",
            "--outdir",
            out,
            source,
        ]
        run(*command, cwd=source, env={"SOURCE_DATE_EPOCH": epoch(), **env})
    [path] = out.glob("*.whl")
    return path


def difference(one: Path, other: Path) -> str:
    """Which members of two wheels are not the same; empty where the files are."""
    if one.read_bytes() == other.read_bytes():
        return ""
    with zipfile.ZipFile(one) as a, zipfile.ZipFile(other) as b:
        members = [
            {i.filename: (a_or_b.read(i), i.date_time, i.external_attr) for i in a_or_b.infolist()}
            for a_or_b in (a, b)
        ]
    names = [
        n for n in sorted({*members[0], *members[1]}) if members[0].get(n) != members[1].get(n)
    ]
    return ", ".join(names) or "the order of the files"


def wheel(folder: Path) -> str:
    old = os.umask(0o077)
    try:
        first = built(folder, "wheel", TZ="UTC", PYTHONHASHSEED="1")
    finally:
        os.umask(old)
    second = built(folder, "wheel-again", TZ="Asia/Tokyo", PYTHONHASHSEED="2")
    if found := difference(first, second):
        raise Failed(f"two builds differ: {found}")
    digest = hashlib.sha256(first.read_bytes()).hexdigest()
    return f"{first.name}, twice {first.stat().st_size} bytes, sha256 {digest}"


def sbom(folder: Path) -> str:
    """CycloneDX of an environment with the wheel and all its extras, and nothing else."""
    path = next((folder / "wheel").glob("*.whl"), None) or built(folder, "wheel")
    extras = ",".join(name for name in PROJECT["optional-dependencies"] if name not in OWN_EXTRAS)
    out = folder / f"lf-sql-{__version__}.cdx.json"
    with tempfile.TemporaryDirectory() as name:
        python = Path(name) / "bin" / "python"
        run(sys.executable, "-m", "venv", "--without-pip", name)
        pip = [
            BIN / "python",
            "-m",
            "pip",
            "--python",
            python,
            "install",
            "--quiet",
            "--disable-pip-version-check",
        ]
        run(*pip, f"{path}[{extras}]")
        run(
            BIN / "cyclonedx-py", "environment", "--pyproject", ROOT / "pyproject.toml", "--mc-type", "library",
            "--output-reproducible", "--of", "JSON", "--output-file", out, python,
        )  # fmt: skip
    return judged(json.loads(out.read_text(encoding="utf-8")), out)


def judged(bom: Mapping[str, Any], out: Path) -> str:
    """Each dependency that the project declares is in it, with a version."""
    there = {canonical(one["name"]): one for one in bom.get("components", [])}
    wanted = list(PROJECT["dependencies"])
    for name, more in PROJECT["optional-dependencies"].items():
        wanted += [] if name in OWN_EXTRAS else more
    missing = {canonical(re.split(r"[\[<>=~! ]", one)[0]) for one in wanted} - {
        n for n, c in there.items() if c.get("version")
    }
    if missing:
        raise Failed(f"not in it: {', '.join(sorted(missing))}")
    bare = sorted(
        name for name, one in there.items() if not one.get("licenses") and name != "lf-sql"
    )
    return (
        f"{len(there)} components"
        + (f", without a licence: {', '.join(bare)}" if bare else "")
        + f"; {out}"
    )


def canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
