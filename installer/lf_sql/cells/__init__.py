"""Cells: more than one lf-sql, each on its own database, and tenants that live in one of them."""
