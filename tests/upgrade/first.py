"""The first release as it was: v0.1.0.tar.xz, so that a clone without tags or history can upgrade from it, too.

Made by `git archive v0.1.0 installer sql | xz -9e`. TREES are git's own names of the two folders: `git rev-parse v0.1.0:sql`.
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
from pathlib import Path

TAG = "v0.1.0"
TREES = {
    "installer": "c9c9004f562de520de9d3faf74e0f86588df8c5b",
    "sql": "48b31bec8be70cfa52508c9b2ffdee3fbb269283",
}
ARCHIVE = Path(__file__).parent / f"{TAG}.tar.xz"


def unpack(folder: Path) -> Path:
    shutil.unpack_archive(ARCHIVE, folder)
    return folder


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


def tagged(name: str) -> str | None:
    """The same folder's name in the tag; None where this clone has no such tag, or no git is there."""
    command = ["git", "-C", str(ARCHIVE.parent), "rev-parse", "--verify", "-q", f"{TAG}:{name}"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return None
    return done.stdout.strip() or None


def _object_id(kind: str, content: bytes) -> str:
    return hashlib.sha1(f"{kind} {len(content)}\0".encode() + content).hexdigest()
