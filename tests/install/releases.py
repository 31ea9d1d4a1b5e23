"""The releases as they were: v*.tar.xz, so that a clone without tags or history can upgrade from them, too.

Made by `git archive TAG installer sql | xz -9e`. `trees` are git's own names of the two folders: `git rev-parse TAG:sql`.
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support.cli import environment

HERE = Path(__file__).parent
# A call that was under way at an upgrade's commit goes on by its old body, and what that calls has changed:
# it is refused once, and may be made again.
REFUSED_AT_COMMIT = ("42883", "42804", "XX000")


@dataclass(frozen=True)
class Release:
    tag: str
    trees: Mapping[str, str]

    @property
    def version(self) -> str:
        return self.tag.removeprefix("v")

    def __str__(self) -> str:
        return self.tag

    def unpack(self, folder: Path) -> Path:
        shutil.unpack_archive(HERE / f"{self.tag}.tar.xz", folder)
        return folder

    def install(self, folder: Path, dsn: str) -> subprocess.CompletedProcess[str]:
        """Its own installer, from where it was unpacked."""
        return subprocess.run(
            [sys.executable, "-m", "lf_sql", "--dsn", dsn, "install"],
            env={**environment(), "PYTHONPATH": str(folder / "installer")},
            capture_output=True, text=True, check=False, cwd="/", timeout=120,
        )  # fmt: skip

    def tagged(self, name: str) -> str | None:
        """The same folder's name in the tag; None where this clone has no such tag, or no git is there."""
        command = ["git", "-C", str(HERE), "rev-parse", "--verify", "-q", f"{self.tag}:{name}"]
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=False)
        except FileNotFoundError:
            return None
        return done.stdout.strip() or None


RELEASES = (
    Release(
        "v0.1.0",
        {
            "installer": "c9c9004f562de520de9d3faf74e0f86588df8c5b",
            "sql": "48b31bec8be70cfa52508c9b2ffdee3fbb269283",
        },
    ),
    Release(
        "v0.2.0",
        {
            "installer": "7f97a6a83ee0df840502daca9456f2e8d25ff282",
            "sql": "b352e1996ddc987aac9eda23e96e3f6299a4cda3",
        },
    ),
)

# For tests that take long: `make test` runs them with the newest alone.
SOME = tuple(
    pytest.param(release, marks=pytest.mark.slow if release is not RELEASES[-1] else ())
    for release in RELEASES
)


def tree_id(folder: Path) -> str:
    """What git calls a folder with this content."""
    entries = []
    for path in folder.iterdir():
        if path.is_dir():
            entries.append((f"{path.name}/", "40000", path.name, tree_id(path)))
        else:
            mode = "100755" if path.stat().st_mode & 0o100 else "100644"
            entries.append((path.name, mode, path.name, _object_id("blob", path.read_bytes())))
    lines = (
        f"{mode} {name}\0".encode() + bytes.fromhex(id) for _, mode, name, id in sorted(entries)
    )
    return _object_id("tree", b"".join(lines))


def _object_id(kind: str, content: bytes) -> str:
    return hashlib.sha1(f"{kind} {len(content)}\0".encode() + content).hexdigest()
