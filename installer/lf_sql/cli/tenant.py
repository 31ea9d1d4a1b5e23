"""lf-sql tenant: who has schedules."""

from __future__ import annotations

from uuid import UUID, uuid4

import click

from lf_sql.cli.context import emit, emit_one, note, options
from lf_sql.cli.lazy import SuggestingGroup
from lf_sql.cli.params import Name
from lf_sql.cli.session import as_asked, installed, one
from lf_sql.cli.terminal import words
from lf_sql.cli.terminal.table import Column
from lf_sql.errors import LfSqlError

LIST = """
select
  p.id, p.handle, p.display_name, p.user_id, p.created_at,
  (select count(*) from lenses.workflows as w where w.lenser_id = p.id and w.status <> 'deleted')
    as workflows,
  (select count(*) from lenses.workflow_schedules as s where s.lenser_id = p.id) as schedules
from lensers.profiles as p
order by p.created_at, p.id
"""


VIEW = [
    Column("HANDLE", "handle", 0, least=12, most=40),
    Column("USER ID", "user_id", 0),  # at full length: --as takes nothing less
    Column("NAME", "display_name", 4, least=12, most=40),
    Column("WORKFLOWS", "workflows", 3),
    Column("SCHEDULES", "schedules", 2),
    Column("CREATED", lambda row: words.distance(row["created_at"]), 3),
]


@click.command("list", epilog="\b\nExample:\n  lf-sql tenant list")
def list_() -> None:
    """Tenants, oldest first; user_id is the sub of the JWT that acts as one."""
    with as_asked() as conn:
        rows = conn.execute(LIST.encode()).fetchall()
    emit(rows, empty="no tenants: lf-sql tenant create HANDLE", view=lambda _: VIEW)


@click.command(
    epilog="\b\nExamples:\n  lf-sql tenant create shop\n"
    "  lf-sql tenant create shop --user-id 3f0c6f0e-6f0f-4c3e-9d5b-0c9a4a1f7a11"
)
@click.argument("handle", type=Name())
@click.option("--user-id", type=click.UUID, help="The sub of its JWT (default: a new one).")
@click.option("--display-name", type=Name(), help="As people read it.")
def create(handle: str, user_id: UUID | None, display_name: str | None) -> None:
    """Create a tenant, and print the user id that acts as it.

    A second one with the same handle is made only for a --user-id of its own.
    """
    with installed() as conn:
        there = conn.execute(
            "select p.handle from lensers.profiles as p where p.user_id = %s", [user_id]
        ).fetchone()
        if there:
            raise LfSqlError(
                f"user {user_id} is a tenant already: {there['handle'] or 'without a handle'}",
                f"act as it with --as {user_id}",
            )
        same = conn.execute(
            "select p.user_id from lensers.profiles as p where p.handle = %s order by p.created_at",
            [handle],
        ).fetchone()
        if same and user_id is None:
            raise LfSqlError(
                f"there is a tenant {handle!r} already, with the user id {same['user_id']}",
                f"act as it with --as {same['user_id']}; for a second one of that handle give the "
                "sub of its JWT: --user-id UUID",
            )
        row = one(
            conn,
            "insert into lensers.profiles (user_id, handle, display_name) values (%s, %s, %s) "
            "returning *",
            [user_id or uuid4(), handle, display_name],
        )
    if options().as_json:
        emit_one(row)
    else:
        click.echo(row["user_id"])
    if same:
        note(
            f"another tenant is called {handle!r} too: name this one by its user id, in `tenant:` "
            "of files as well"
        )


group = SuggestingGroup(
    "tenant",
    help="Tenants: who has schedules.",
    epilog="\b\nExample:\n  lf-sql tenant create shop",
    commands=[list_, create],
)
