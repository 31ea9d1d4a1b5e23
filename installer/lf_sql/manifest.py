"""Are the SQL files of an installed package those that it was built with? Uses no database."""

from __future__ import annotations

import hashlib
from pathlib import Path

from lf_sql.errors import LfSqlError


def check(root: Path) -> None:
    """Refuse a packaged folder `sql/` that differs from sql.sha256 beside it, the wheel's own."""
    try:
        lines = root.with_name("sql.sha256").read_text(encoding="utf-8").splitlines()
    except OSError:
        raise _refusal("sql.sha256 is missing") from None
    wanted = {path: digest for digest, _, path in (line.partition("  ") for line in lines)}
    found = {
        path.relative_to(root).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in root.rglob("*")
        if path.is_file()
    }
    for path in sorted(wanted.keys() | found.keys()):
        if path not in found:
            raise _refusal(f"sql/{path} is missing")
        if path not in wanted:
            raise _refusal(f"sql/{path} does not belong to it")
        if wanted[path] != found[path]:
            raise _refusal(f"sql/{path} has been changed")


def _refusal(what: str) -> LfSqlError:
    return LfSqlError(
        f"this installation of lf-sql is not as it was built: {what}",
        "reinstall it: pip install --force-reinstall lf-sql",
    )
