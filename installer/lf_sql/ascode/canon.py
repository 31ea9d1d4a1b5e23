"""Values of the files and of the database in one form, so that they can be compared."""

from __future__ import annotations

import json
from typing import Any


def canon(value: Any) -> str:
    """Equal where the database says so: 1.0 and 1, but not 1 and true."""
    return json.dumps(_whole(value), sort_keys=True, default=str)


def _whole(value: Any) -> Any:
    match value:
        case float() if value.is_integer():
            return int(value)
        case dict():
            return {key: _whole(item) for key, item in value.items()}
        case list():
            return [_whole(item) for item in value]
    return value
