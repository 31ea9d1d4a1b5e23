"""Values of the files and of the database in one form, so that they can be compared."""

from __future__ import annotations

from typing import Any

from lf_sql.ascode import exact


def canon(value: Any) -> str:
    """Equal where the database says so: 1.0 and 1, but not 1 and true."""
    return exact.dumps(value, sort_keys=True, default=str)
