"""A hostile role's work: objects that count, in a sequence no rollback touches, each time their code runs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from tests.support.database import Database

EVIL = "lf_test_evil"

# A role that may create schemas in this one database; its trap is a sequence, and so outlives every rollback.
TRAP = """
create schema evil;
create sequence evil.calls;
grant usage on schema evil to public;
grant all on evil.calls to public;
create function evil.trap() returns integer language plpgsql security invoker as
$$ begin perform pg_catalog.nextval('evil.calls'); return 1; end $$;
"""


@contextmanager
def evil_in(db: Database) -> Iterator[Database]:
    """The hostile role's session in the database of `db`."""
    db.execute(
        f"do $$ begin create role {EVIL} login; exception when duplicate_object then null; end $$"
    )
    db.execute(f'grant create on database "{db.dbname}" to {EVIL}')
    with db.another(EVIL) as evil:
        evil.execute(TRAP)
        yield evil


def calls(db: Database) -> int:
    """How often something planted has run."""
    return int(db.value("select case when is_called then last_value else 0 end from evil.calls"))
