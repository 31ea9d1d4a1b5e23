"""lf-sql freeze: nothing is dispatched until unfreeze."""

from __future__ import annotations

import click

from lf_sql.cli.context import emit_one
from lf_sql.cli.params import Filled
from lf_sql.cli.session import installed, one


@click.command(epilog='\b\nExample:\n  lf-sql freeze "moving the database"')
@click.argument("reason", type=Filled())
def command(reason: str) -> None:
    """Stop all dispatching at once, for every tenant, and record why; runs under way go on."""
    with installed() as conn:
        one(conn, "select lenses.fn_freeze_dispatch(%s::text) as done", [reason])
        row = one(
            conn,
            "select d.is_frozen, d.frozen_reason, d.frozen_at from lenses.dispatch_settings as d",
        )
    emit_one(row)
