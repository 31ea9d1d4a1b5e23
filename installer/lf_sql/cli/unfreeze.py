"""lf-sql unfreeze: dispatch again."""

from __future__ import annotations

import click

from lf_sql.cli.context import emit_one
from lf_sql.cli.session import installed, one


@click.command(epilog="\b\nExample:\n  lf-sql unfreeze")
def command() -> None:
    """Dispatch again; each schedule's onMissed decides about slots that passed meanwhile."""
    with installed() as conn:
        one(conn, "select lenses.fn_unfreeze_dispatch() as done")
        row = one(conn, "select d.is_frozen from lenses.dispatch_settings as d")
    emit_one(row)
