"""lf-sql: a scheduler that lives in PostgreSQL."""

__version__ = "0.3.0"
