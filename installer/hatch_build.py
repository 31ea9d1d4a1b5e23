"""Puts lf_sql/sql.sha256 into the wheel: each SQL file's digest, for lf_sql/manifest.py."""

from __future__ import annotations

import hashlib
import shutil
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CustomBuildHook(BuildHookInterface[Any]):
    """Of the wheel alone; an editable install reads the checkout, where git knows what differs."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="lf-sql-"))
        if version == "editable":
            return
        root = Path(self.root) / "sql"
        lines = [
            f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.relative_to(root)}\n"
            for file in sorted(root.rglob("*"))
            if file.is_file()
        ]
        manifest = self._folder / "sql.sha256"
        manifest.write_text("".join(lines), encoding="utf-8")
        build_data["force_include"][str(manifest)] = "lf_sql/sql.sha256"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        shutil.rmtree(self._folder, ignore_errors=True)
