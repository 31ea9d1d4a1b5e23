"""Executors: a library that gives runs to functions of yours. `from lf_sql import Executor`."""

from lf_sql.executor.desk import Outcome
from lf_sql.executor.executor import Executor
from lf_sql.executor.failures import (
    BudgetExceeded,
    ContractViolated,
    RateLimited,
    RunFailed,
    TransientError,
)
from lf_sql.executor.run import Run

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
