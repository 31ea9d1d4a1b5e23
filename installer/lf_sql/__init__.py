"""lf-sql: a scheduler that lives in PostgreSQL."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lf_sql.executor import (
        BudgetExceeded,
        ContractViolated,
        Executor,
        Outcome,
        RateLimited,
        Run,
        RunFailed,
        TransientError,
    )

__version__ = "0.3.0"
__all__ = [
    "BudgetExceeded",
    "ContractViolated",
    "Executor",
    "Outcome",
    "RateLimited",
    "Run",
    "RunFailed",
    "TransientError",
]


def __getattr__(name: str) -> Any:
    """Loads the executor library only when it is used."""
    if name not in __all__:
        raise AttributeError(f"module 'lf_sql' has no attribute {name!r}")
    from lf_sql import executor

    return getattr(executor, name)
