"""lf-sql agent: whom a schedule can be assigned to."""

from __future__ import annotations

from decimal import Decimal

import click

from lf_sql.cli.context import emit, emit_one, options
from lf_sql.cli.lazy import SuggestingGroup
from lf_sql.cli.params import Name
from lf_sql.cli.session import as_asked, installed, of_tenant, one, tell_namesakes

LIST = """
select
  a.id, a.name, l.spending_limit_credits, l.max_daily_battles, p.handle as tenant, a.created_at
from agents.ai_lensers as a
join lensers.profiles as p on p.id = a.lenser_id
left join agents.policies as l on l.ai_lenser_id = a.id
order by p.handle, a.name, a.id
"""


@click.command("list", epilog="\b\nExample:\n  lf-sql agent list")
def list_() -> None:
    """Agents, with what they may spend a UTC day."""
    with as_asked() as conn:
        rows = conn.execute(LIST.encode()).fetchall()
    emit(rows, empty="no agents: lf-sql agent create NAME")


@click.command(epilog="\b\nExample:\n  lf-sql agent create writer --spending-limit 100")
@click.argument("name", type=Name())
@click.option(
    "--spending-limit",
    type=click.FloatRange(0),
    help="Most credits in a UTC day, and in a single run.",
)
@click.option("--max-daily-battles", type=click.IntRange(0), help="Battles a UTC day.")
def create(name: str, spending_limit: float | None, max_daily_battles: int | None) -> None:
    """Create an agent for the tenant of --as, or for the only tenant."""
    with installed() as conn, conn.transaction():
        row = one(
            conn,
            "insert into agents.ai_lensers (lenser_id, name) values (%s, %s) returning *",
            [of_tenant(conn), name],
        )
        if spending_limit is not None or max_daily_battles is not None:
            limit = None if spending_limit is None else Decimal(str(spending_limit))
            conn.execute(
                "insert into agents.policies "
                "(ai_lenser_id, lenser_id, spending_limit_credits, max_daily_battles) "
                "values (%s, %s, %s, %s)",
                [row["id"], row["lenser_id"], limit, max_daily_battles],
            )
        tell_namesakes(conn, "agent", name)
    if options().as_json:
        emit_one(row)
    else:
        click.echo(row["id"])


group = SuggestingGroup(
    "agent",
    help="Agents: whom a schedule can be assigned to.",
    epilog="\b\nExample:\n  lf-sql agent create writer",
    commands=[list_, create],
)
