"""What one pytest process shares: a server, an installed template, the databases made from it."""

from __future__ import annotations

import itertools
from functools import cached_property

import psycopg
import pytest
from psycopg import sql

from lf_sql import apply, bundle
from lf_sql import db as product_db
from tests.support.server import TestServer, preload

TEMPLATE = "lf_template"
_KEY: pytest.StashKey[State] = pytest.StashKey()


class State:
    """Made when the first test asks; closed at the end of the session."""

    def __init__(self) -> None:
        self._numbers = itertools.count(1)
        self._server: TestServer | None = None
        self._tap: str | None = None

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
