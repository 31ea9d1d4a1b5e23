"""The directory: which cells there are, and which tenant is in which.

The commands ask each cell by a connection of their own. The directory holds no password and no
foreign table, so that a cell that is down hides itself alone, and cells need no way to each other.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from uuid import UUID

import psycopg
from psycopg import conninfo

from lf_sql import bundle, db
from lf_sql.db import Connection
from lf_sql.errors import CannotConnect, LfSqlError
from lf_sql.near import the_nearest

VARIABLE = "LF_SQL_DIRECTORY"
FORMAT = 1
NAME = re.compile(r"[a-z0-9_-]{1,63}")
_SECRETS = ("password", "sslpassword")
_TURN = "select pg_catalog.pg_advisory_xact_lock(1818653553, 46)"


@dataclass(frozen=True)
class Cell:
    """A row of lf_fleet.cells."""

    id: int
    name: str
    conninfo: str
    is_open: bool
    version: str | None


@dataclass(frozen=True)
class Place:
    """A row of lf_fleet.tenants."""

    user_id: UUID
    lenser_id: UUID | None
    cell_id: int
    moving_to: int | None


def given(dsn: str | None) -> str | None:
    """--directory, else LF_SQL_DIRECTORY, else None. WrongUsage for blanks alone."""
    return dsn or db.filled(os.environ.get(VARIABLE), VARIABLE)


@contextmanager
def opened(dsn: str) -> Iterator[Directory]:
    """The directory there. LfSqlError where it does not answer, or is not there."""
    with _connected(dsn) as conn:
        directory = Directory(conn)
        directory.check()
        yield directory


def connect(dsn: str) -> Connection:
    """A connection to a database that holds a directory. LfSqlError where it holds none."""
    conn = _connect(dsn)
    try:
        Directory(conn).check()
    except BaseException:
        conn.close()
        raise
    return conn


def _connect(dsn: str) -> Connection:
    try:
        return db.connect(dsn, application_name="lf-sql cells")
    except CannotConnect as error:
        raise LfSqlError(
            f"the directory does not answer: {error.message}",
            f"cells and their ticks go on without it; correct --directory or {VARIABLE}, or reach "
            "a cell by --dsn",
        ) from None


@contextmanager
def _connected(dsn: str) -> Iterator[Connection]:
    with _connect(dsn) as conn:
        make_durable(conn)
        yield conn


def init(dsn: str) -> bool:
    """Make the directory; False where it is there already."""
    with _connected(dsn) as conn, conn.transaction():
        conn.execute(_TURN)
        if _is_there(conn):
            Directory(conn).check()
            return False
        conn.execute(bundle.query("directory").encode())
        conn.execute("insert into lf_fleet.directories (format) values (%s)", [FORMAT])
    return True


def _is_there(conn: Connection) -> bool:
    query = "select pg_catalog.to_regclass('lf_fleet.directories') is not null as is_there"
    row = conn.execute(query).fetchone()
    return bool(row and row["is_there"])


def make_durable(conn: Connection) -> None:
    """What is committed must outlive a crash, whatever the server's default: another server acts
    upon it."""
    conn.execute(
        "select pg_catalog.set_config('synchronous_commit', 'on', false) "
        "where pg_catalog.current_setting('synchronous_commit') = 'off'"
    )


def without_password(dsn: str) -> str:
    """The connection string as the directory keeps it."""
    try:
        parts = conninfo.conninfo_to_dict(dsn)
    except psycopg.ProgrammingError:
        raise LfSqlError(
            "the connection string cannot be read",
            "write it as postgresql://user@host:5432/database or 'host=... dbname=... user=...'",
        ) from None
    return conninfo.make_conninfo("", **{k: v for k, v in parts.items() if k not in _SECRETS})


def has_password(dsn: str) -> bool:
    """Whether the directory keeps less of it than is given."""
    return without_password(dsn) != conninfo.make_conninfo(dsn)


@contextmanager
def connected(cell: Cell, *, is_patient: bool = False) -> Iterator[Connection]:
    """A connection to a cell; its errors name the cell."""
    try:
        conn = db.connect(cell.conninfo, application_name="lf-sql cells", is_patient=is_patient)
    except LfSqlError as error:
        raise LfSqlError(f"cell {cell.name}: {error.message}", _hint(error)) from None
    with conn:
        make_durable(conn)
        yield conn


def _hint(error: LfSqlError) -> str | None:
    if isinstance(error, CannotConnect) and "password" in error.message:
        return "the directory keeps no password: give it in ~/.pgpass or PGPASSWORD"
    if isinstance(error, CannotConnect):
        return "start it, or correct its address: lf-sql cells set NAME --dsn DSN"
    return error.hint


class Directory:
    """An open directory."""

    def __init__(self, conn: Connection) -> None:
        self.conn = conn

    def check(self) -> None:
        """LfSqlError where this database holds no directory that this version understands."""
        if not _is_there(self.conn):
            raise LfSqlError(
                "there is no directory in this database", "lf-sql cells init --directory DSN"
            )
        row = self.conn.execute("select format from lf_fleet.directories").fetchone()
        if row is None or row["format"] != FORMAT:
            found = row["format"] if row else "none"
            raise LfSqlError(
                f"the directory has format {found}, and this version reads {FORMAT}",
                "use the lf-sql that made it, or a newer one",
            )

    @property
    def id(self) -> UUID:
        row = self.conn.execute("select id from lf_fleet.directories").fetchone()
        assert row is not None  # checked when it was opened
        found: UUID = row["id"]
        return found

    def cells(self) -> list[Cell]:
        """In the order in which they were added."""
        rows = self.conn.execute(
            "select id, name, conninfo, is_open, version from lf_fleet.cells order by id"
        ).fetchall()
        return [Cell(**row) for row in rows]

    def asked(self, name: str | None) -> list[Cell]:
        """The cell of this name, or all of them where none is given."""
        return [self.cell(name)] if name else self.cells()

    def cell(self, name: str) -> Cell:
        """The cell of this name."""
        cells = {cell.name: cell for cell in self.cells()}
        if name not in cells:
            raise LfSqlError(
                f"there is no cell {name!r}{the_nearest(name, cells)}", "lf-sql cells list"
            )
        return cells[name]

    def cell_of(self, user_id: UUID) -> Cell:
        """The cell in which the tenant is; of one that moves, the one that it leaves."""
        place = self.place(user_id)
        if place is None:
            raise LfSqlError(
                f"no cell is known for the user {user_id}", f"lf-sql cells place {user_id}"
            )
        return self.by_id(place.cell_id)

    def by_id(self, number: int) -> Cell:
        return next(cell for cell in self.cells() if cell.id == number)

    def place(self, user_id: UUID) -> Place | None:
        """Where the tenant is; None where nobody placed it."""
        row = self.conn.execute(
            "select user_id, lenser_id, cell_id, moving_to from lf_fleet.tenants "
            "where user_id = %s",
            [user_id],
        ).fetchone()
        return Place(**row) if row else None

    def add(self, name: str, dsn: str, *, is_open: bool = True) -> Cell:
        """A new cell. LfSqlError where the name is taken or no name."""
        if not NAME.fullmatch(name):
            raise LfSqlError(
                f"{name!r} is no name for a cell", "write 1 to 63 of a-z, 0-9, - and _"
            )
        row = self.conn.execute(
            "insert into lf_fleet.cells (name, conninfo, is_open) values (%s, %s, %s) "
            "on conflict (name) do nothing "
            "returning id, name, conninfo, is_open, version",
            [name, without_password(dsn), is_open],
        ).fetchone()
        if row is None:
            raise LfSqlError(
                f"there is a cell {name!r} already",
                f"give another name, or change that one: lf-sql cells set {name} --dsn DSN",
            )
        return Cell(**row)

    def change(self, cell: Cell, dsn: str | None, is_open: bool | None) -> None:
        """Its address, and whether new tenants are placed there."""
        self.conn.execute(
            "update lf_fleet.cells set conninfo = coalesce(%s, conninfo), "
            "is_open = coalesce(%s, is_open) where id = %s",
            [without_password(dsn) if dsn else None, is_open, cell.id],
        )

    def see(self, cell: Cell, version: str | None) -> None:
        """Remember the version that was found there."""
        self.conn.execute(
            "update lf_fleet.cells set version = %(version)s "
            "where id = %(id)s and version is distinct from %(version)s",
            {"version": version, "id": cell.id},
        )
