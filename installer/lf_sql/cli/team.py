"""lf-sql team: agents that work together."""

from __future__ import annotations

import click

from lf_sql.cli.candidates import complete
from lf_sql.cli.context import emit, emit_one, options
from lf_sql.cli.lazy import SuggestingGroup
from lf_sql.cli.params import Name
from lf_sql.cli.session import as_asked, find, installed, of_tenant, one, tell_namesakes

LIST = """
select
  t.id, t.name,
  array(
    select a.name from agents.team_members as m join agents.ai_lensers as a on a.id = m.ai_lenser_id
    where m.team_id = t.id order by a.name) as members,
  p.handle as tenant, t.created_at
from agents.teams as t
join lensers.profiles as p on p.id = t.lenser_id
order by p.handle, t.name, t.id
"""


@click.command("list", epilog="\b\nExample:\n  lf-sql team list")
def list_() -> None:
    """Teams and their members."""
    with as_asked() as conn:
        rows = conn.execute(LIST.encode()).fetchall()
    emit(rows, empty="no teams: lf-sql team create NAME")


@click.command(epilog="\b\nExample:\n  lf-sql team create crew --member writer --member checker")
@click.argument("name", type=Name())
@click.option(
    "--member", "members", multiple=True, help="An agent.", shell_complete=complete("agent")
)
def create(name: str, members: tuple[str, ...]) -> None:
    """Create a team for the tenant of --as, or for the only tenant."""
    with installed() as conn, conn.transaction():
        row = one(
            conn,
            "insert into agents.teams (lenser_id, name) values (%s, %s) returning *",
            [of_tenant(conn), name],
        )
        for member in dict.fromkeys(members):
            conn.execute(
                "insert into agents.team_members (team_id, ai_lenser_id, lenser_id) "
                "values (%s, %s, %s)",
                [row["id"], find(conn, "agent", member).id, row["lenser_id"]],
            )
        tell_namesakes(conn, "team", name)
    if options().as_json:
        emit_one(row)
    else:
        click.echo(row["id"])


group = SuggestingGroup(
    "team",
    help="Teams: agents that work together.",
    epilog="\b\nExample:\n  lf-sql team create crew --member writer",
    commands=[list_, create],
)
