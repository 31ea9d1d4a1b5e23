"""Which policies of a schedule were left out, so that its assignment's and the server's hold."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

DEFAULTS: Mapping[str, Any] = {
    "approval_policy": {"requiresApproval": True},
    "retry_policy": {"maxRetries": 1},
    "failure_policy": {"mode": "isolate"},
    "queue_policy": {"mode": "parallel"},
}


def own(row: Mapping[str, Any], name: str) -> Any:
    """What the row itself says of a policy; None where it was left out."""
    is_default = row[name] == DEFAULTS[name] and name not in row["explicit_defaults"]
    return None if is_default else row[name]
