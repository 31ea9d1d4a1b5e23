"""lf-sql: a scheduler that lives in PostgreSQL."""

__version__ = "0.2.0"
