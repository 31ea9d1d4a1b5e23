"""What one pytest process shares: a server, an installed template, the databases made from it."""

from __future__ import annotations

import itertools
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import LiteralString

import psycopg
import pytest
from psycopg import sql

from lf_sql import apply, bundle
from lf_sql import db as product_db
from tests.support.database import Database, connect
from tests.support.server import TestServer, preload

TEMPLATE = "lf_template"
_KEY: pytest.StashKey[State] = pytest.StashKey()


class State:
    """Made when the first test asks; closed at the end of the session."""

    def __init__(self) -> None:
        self._numbers = itertools.count(1)
        self._server: TestServer | None = None
        self._tap: str | None = None
        self._untouched: dict[str, list[str]] = defaultdict(list)

    @property
    def server(self) -> TestServer:
        """pg_cron, where the build has it, lives in database `postgres`, not in the tests'."""
        if self._server is None:
            self._server = TestServer(
                {
                    "shared_preload_libraries": preload("pg_cron", "plpgsql_check"),
                    "cron.database_name": "postgres",
                    "cron.use_background_workers": "on",
                    "cron.launch_active_jobs": "off",
                }
                if preload("pg_cron")
                else {"shared_preload_libraries": preload("plpgsql_check")}
            )
        return self._server

    @cached_property
    def admin(self) -> psycopg.Connection[tuple[object, ...]]:
        return psycopg.connect(self.server.dsn(), autocommit=True)

    @cached_property
    def template(self) -> str:
        """A database that this version's own installer has filled; never connected to again."""
        self.create(TEMPLATE, None)
        with product_db.connect(self.server.dsn(TEMPLATE)) as conn:
            apply.install(conn, bundle.load())
        return TEMPLATE

    def create(self, name: str, template: str | None) -> str:
        """A copy of the files costs a third of a copy through the log."""
        command = sql.SQL("create database {} template {} strategy file_copy").format(
            sql.Identifier(name), sql.Identifier(template or "template0")
        )
        self.admin.execute(command)
        return name

    def fresh(self, *, installed: bool) -> str:
        """A new database, installed or empty."""
        return self.create(f"t{next(self._numbers)}", self.template if installed else None)

    def drop(self, name: str) -> None:
        command = sql.SQL("drop database if exists {} with (force)").format(sql.Identifier(name))
        self.admin.execute(command)

    @contextmanager
    def borrowed(
        self, kind: str = "installed", prepare: Callable[[Database], object] | None = None
    ) -> Iterator[Database]:
        """A superuser's session in a fresh, installed database, `prepare`d once where it is new.

        The next one who asks for this kind gets the same database if nothing was written to it.
        """
        known = self._untouched[kind]
        is_new = not known
        name = self.fresh(installed=True) if is_new else known.pop()
        with connect(self.server.dsn(name)) as conn:
            if is_new and prepare:
                prepare(conn)
            before = self._next_transaction()
            yield conn
        if self._next_transaction() == before and self._is_left(name):
            known.append(name)
        else:
            self.drop(name)

    def _next_transaction(self) -> object:
        """The server's next transaction id: as long as it stays, no database has been written to."""
        return self._ask("select pg_snapshot_xmax(pg_current_snapshot())")

    def _is_left(self, name: str) -> bool:
        """Whether the sessions in it are over; one that was closed just now has a second for it."""
        query: LiteralString = "select count(*) = 0 from pg_stat_activity where datname = %s"
        for pause in (0, 0.01, 0.05, 0.2, 0.7):
            time.sleep(pause)
            if self._ask(query, name):
                return True
        return False

    def _ask(self, query: LiteralString, *values: object) -> object:
        row = self.admin.execute(query, values).fetchone()
        assert row
        return row[0]

    def tap_database(self) -> str:
        """An installed database with pgTAP; its files roll back, so they share it."""
        if self._tap is None:
            self._tap = self.fresh(installed=True)
            with psycopg.connect(self.server.dsn(self._tap), autocommit=True) as conn:
                conn.execute("create extension pgtap")
        return self._tap

    def close(self) -> None:
        if self._server:
            self.admin.close()
            self._server.stop()


def state_of(config: pytest.Config) -> State:
    if _KEY not in config.stash:
        config.stash[_KEY] = State()
    return config.stash[_KEY]


def close_state(config: pytest.Config) -> None:
    if _KEY in config.stash:
        config.stash[_KEY].close()
        del config.stash[_KEY]
