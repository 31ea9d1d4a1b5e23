"""One tenant between two cells: departs from the one, is carried, arrives in the other.

The source commits the departure first, the target the arrival second. At no moment is a tenant
active in both, and each step may be repeated after a kill.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Literal
from uuid import UUID

from lf_sql.db import Connection, steady_transaction

BUSY = 2000  # ms that a departure waits for a tenant's transaction; so long its calls wait too
Presence = Literal["here", "departed", "absent"]

_COPY_OUT = (
    "copy (select table_name, row_texts from lenses.fn_tenant_rows(p_lenser_id => '{}')) to stdout"
)
_PATIENT = """
select pg_catalog.set_config(x.name, '0', true)
from pg_catalog.unnest(
  '{idle_in_transaction_session_timeout,transaction_timeout}'::text[]) as x (name)
where pg_catalog.current_setting(x.name, true) is not null
"""
_COPY_IN = "copy pg_temp.tenant_rows (table_name, row_texts) from stdin"


def depart(source: Connection, lenser_ids: Sequence[UUID], to: str) -> list[UUID]:
    """Let tenants depart to the cell `to`. Returns the ids that have departed, now or before.

    While runs of one of them are running, none departs: 55006. While a transaction of theirs is
    open for longer than BUSY, neither: 55P03. Then their calls go on.
    """
    with source.transaction():
        source.execute(f"set local lock_timeout = '{BUSY}ms'")
        return _ids(
            source,
            "select lenses.fn_depart_tenants(%s::uuid[], %s) as ids",
            [list(lenser_ids), to],
        )


def carry(source: Connection, target: Connection, lenser_id: UUID) -> bool:
    """Copy a tenant that has departed from the source to the target, where it arrives.

    One transaction on the target, which commits first: meanwhile the departure cannot be taken
    back. False where the tenant is active there already; 55000 where it is still in the source.
    """
    if presence(target, lenser_id) == "here":
        return False
    with source.transaction(), steady_transaction(target):
        source.execute("set transaction isolation level repeatable read")
        source.execute(_PATIENT)  # it waits while the target takes the tenant in
        target.execute("select lenses.fn_open_arrival()")
        statement = _COPY_OUT.format(UUID(str(lenser_id))).encode()
        with (
            source.cursor().copy(statement) as rows,
            target.cursor().copy(_COPY_IN.encode()) as into,
        ):
            for block in rows:
                into.write(block)
        row = target.execute(
            "select lenses.fn_arrive_tenant(%s::uuid) as arrived", [lenser_id]
        ).fetchone()
    return row is not None and bool(row["arrived"])


def has_arrived(source: Connection, target: Connection, lenser_id: UUID) -> bool:
    """Whether the tenant is in the target by the departure that the source has committed.

    A profile that something else has made there is no arrival.
    """
    left = _instant(source, "departed_at", lenser_id)
    return left is not None and left == _instant(target, "source_departed_at", lenser_id)


def _instant(conn: Connection, column: str, lenser_id: UUID) -> datetime | None:
    row = conn.execute(
        f"select p.{column} as at from lensers.profiles as p where p.id = %s",  # noqa: S608
        [lenser_id],
    ).fetchone()
    return row["at"] if row else None


def take_back(source: Connection, lenser_ids: Sequence[UUID]) -> list[UUID]:
    """Undo departures, where no arrival has happened and none can any more: everything as before.

    55000 where one is settled. Also for a cell that was split off, where their rows are already.
    Returns the ids of tenants that are here now.
    """
    return _ids(source, "select lenses.fn_return_tenants(%s::uuid[]) as ids", [list(lenser_ids)])


def leave(copy: Connection, lenser_ids: Sequence[UUID], to: str) -> list[UUID]:
    """For a copy of the cell `to`: end these tenants here, as they live there. Returns their ids.

    What is due, waits or is running of them in the copy ends without a word. Nobody may call in
    the copy meanwhile.
    """
    return _ids(
        copy,
        "select lenses.fn_depart_tenants(%s::uuid[], %s, p_is_copy => true) as ids",
        [list(lenser_ids), to],
    )


def settle(source: Connection, lenser_ids: Sequence[UUID]) -> list[UUID]:
    """In the old cell, once they are at work in the new one: nothing takes the departure back.

    The purge may delete what they left. Returns the ids whose departure is settled.
    """
    return _ids(source, "select lenses.fn_settle_departures(%s::uuid[]) as ids", [list(lenser_ids)])


def presence(conn: Connection, lenser_id: UUID) -> Presence:
    """Whether a tenant lives in this cell, has left it, or is not known to it."""
    row = conn.execute(
        "select p.departed_at is null as is_here from lensers.profiles as p where p.id = %s",
        [lenser_id],
    ).fetchone()
    if row is None:
        return "absent"
    return "here" if row["is_here"] else "departed"


def _ids(conn: Connection, query: str, values: list[object]) -> list[UUID]:
    with steady_transaction(conn):
        row = conn.execute(query.encode(), values).fetchone()
    return list(row["ids"]) if row else []
