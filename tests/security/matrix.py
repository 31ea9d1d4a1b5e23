"""The matrix of tables.csv, read once."""

from __future__ import annotations

import csv
from pathlib import Path

OUR_SCHEMAS = ("lf_sql", "lensers", "lenses", "agents", "automation")
ROLES = ("anon", "authenticated", "service_role", "lf_sql_engine", "lf_sql_owner", "stranger")
VERBS = {"S": "select", "I": "insert", "U": "update", "D": "delete", "T": "truncate"}


def read() -> dict[str, dict[str, str]]:
    text = (Path(__file__).parent / "tables.csv").read_text()
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    return {row["table"]: row for row in csv.DictReader(lines)}


MATRIX = read()

# Tables with rows of tenants, and the column that says whose.
TENANT_COLUMN = {
    table: row["tenant"].partition("+")[0] for table, row in MATRIX.items() if row["tenant"] != "-"
}
WITH_SEEDS = {table for table, row in MATRIX.items() if row["tenant"].endswith("+seeds")}
