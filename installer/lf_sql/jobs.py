"""The pg_cron jobs: registered exactly once, or what is missing and how to get it.

pg_cron lives in one database of a server. Where that is ours the jobs are registered from the same
connection (`here`); else, by --cron-dsn, from a second one (`elsewhere`), under names with our
database's name behind them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import psycopg

from lf_sql import bundle as bundles
from lf_sql import cron_extension, cron_troubles, db, preflight, roles
from lf_sql.bundle import Bundle, Job
from lf_sql.compare import Finding
from lf_sql.cron_extension import suffixed
from lf_sql.cron_troubles import Trouble
from lf_sql.db import Connection
from lf_sql.errors import LfSqlError
from lf_sql.job_types import Driver, Wanted
from lf_sql.template import literal

DISPATCH = "dispatch-scheduled-workflows"

Row = Mapping[str, Any]


class Cron:
    """pg_cron as one connection reaches it, for the database of another (or the same) one."""

    def __init__(self, conn: Connection, bundle: Bundle, cron: Connection | None) -> None:
        self.ours = conn
        self.conn = cron or conn
        self.bundle = bundle
        self.database = conn.info.dbname
        self.is_elsewhere = cron is not None and cron.info.dbname != conn.info.dbname
        if cron is not None:
            self._refuse_another_server()
        self.acts_as, self.logged_in = _identity(self.conn)
        # pg_cron's own come first: to name another takes a superuser.
        self.users = list(dict.fromkeys((self.acts_as, self.logged_in, *_identity(conn))))
        self.runner = self._runner()
        with self.acting(self.runner):
            self.server = _one(self.conn, "cron_server")

    def _refuse_another_server(self) -> None:
        query = b"select pg_catalog.pg_postmaster_start_time() as started"
        if self.ours.execute(query).fetchone() != self.conn.execute(query).fetchone():
            raise LfSqlError(
                "--cron-dsn is of another server than the database itself",
                "give the DSN of the database of the same server in which pg_cron lives",
            )

    def _runner(self) -> str | None:
        """The role that the jobs are to run as."""
        facts = self.facts(self.users)
        return next((name for name in self.users if facts[name]["can_run"]), None)

    def facts(self, names: list[str]) -> dict[str, Row]:
        """What our database says of these roles."""
        rows = self.ours.execute(bundles.query("cron_roles").encode(), {"names": names})
        return {row["name"]: row for row in rows.fetchall()}

    @contextmanager
    def acting(self, role: str | None) -> Iterator[str]:
        """A transaction of pg_cron's connection as this role where it can be had; who it is."""
        name = self.logged_in if role == self.logged_in else self.acts_as
        with db.steady_transaction(self.conn):
            if self.logged_in != self.acts_as:
                word = "none" if name == self.logged_in else roles.quote_ident(name)
                self.conn.execute(f"set local role {word}".encode())
            yield name

    @property
    def is_usable(self) -> bool:
        return bool(self.server["is_created"] and self.server["may_use"])

    def troubles(self) -> list[Trouble]:
        server = self.server
        if self.is_elsewhere and server["is_created"]:
            server = {**server, "cron_database": server["database_name"]}
        found = cron_troubles.troubles(server)
        if self.is_usable and self.runner is None and self.wanted():
            found.append(cron_troubles.no_runner(self.users))
        return found

    def wanted(self) -> list[Wanted]:
        """The jobs whose procedure is here, of as many lanes as are set."""
        lanes = cron_extension.lanes(self.ours)
        return [self._wanted(job) for job in self._possible() if job.lane <= lanes]

    def surplus(self) -> list[Wanted]:
        """Those of the lanes too many."""
        lanes = cron_extension.lanes(self.ours)
        return [self._wanted(job) for job in self._possible() if job.lane > lanes]

    def _possible(self) -> list[Job]:
        rows = self.ours.execute(
            "select n.nspname || '.' || p.proname as name from pg_catalog.pg_proc as p "
            "join pg_catalog.pg_namespace as n on n.oid = p.pronamespace where p.prokind = 'p'"
        ).fetchall()
        there = {row["name"] for row in rows}
        place = "elsewhere" if self.is_elsewhere else "here"
        return [
            job for job in self.bundle.jobs if job.requires in there and job.place in ("", place)
        ]

    def _wanted(self, job: Job) -> Wanted:
        if not self.is_elsewhere:
            return Wanted(job.name, job.name, job.schedule, job.command, self.database)
        name = suffixed(job.name, self.database)
        if job.place != "elsewhere":
            return Wanted(job.name, name, job.schedule, job.command, self.database)
        preflight.check(self.ours)  # behind the question what is there
        row = self.ours.execute(
            "select s.ticks_retention::text as retention from lenses.dispatch_settings as s"
        ).fetchone()
        values = {
            "database": self.database,
            "name": name,
            "retention": row["retention"] if row else "14 days",
        }
        command = job.command
        for mark, value in values.items():
            command = command.replace(f"'@{mark}@'", literal(value))
        return Wanted(job.name, name, job.schedule, command, self.conn.info.dbname)

    def rows(self) -> list[Row]:
        """Those of cron.job with our names, as far as they can be seen, and as whom."""
        names = {job.name for job in self.bundle.jobs}
        names |= {suffixed(name, self.database) for name in names if self.is_elsewhere}
        found: dict[int, Row] = {}
        for role in (None, self.runner):
            with self.acting(role) as seen_as:
                rows = self.conn.execute(
                    bundles.query("cron_jobs").encode(), {"names": sorted(names)}
                ).fetchall()
            found |= {row["jobid"]: {**row, "seen_as": seen_as} for row in rows}
        facts = self.facts([row["username"] for row in found.values()])
        return [{**row, **facts[row["username"]]} for row in found.values()]

    def mine(self, job: Wanted, rows: list[Row]) -> list[Row]:
        """Those that are this job, or were."""
        return [
            row
            for row in rows
            if (self.is_elsewhere and row["job"] == job.name)
            or (row["job"] == job.plain_name and row["database"] == self.database)
            or (row["job"] == job.plain_name and row["is_orphan"] and not self.is_elsewhere)
        ]

    def strayed(self, job: Wanted, rows: list[Row]) -> list[Row]:
        """Those of this name that a role of ours has in another database: the name is taken."""
        mine = self.mine(job, rows)
        return [
            row for row in rows
            if row not in mine and row["job"] == job.name and row["username"] in self.users
        ]  # fmt: skip

    def findings(self) -> list[Finding]:
        rows = self.rows()
        found = [
            Finding("job", job.name, problem)
            for job in self.wanted()
            for problem in self._problems(job, rows)
        ]
        return found + [
            Finding("job", job.name, "left over: dispatch_lanes is lower")
            for job in self.surplus()
            if self.mine(job, rows)
        ]

    def _problems(self, job: Wanted, rows: list[Row]) -> Iterator[str]:
        mine = self.mine(job, rows)
        live = [row for row in mine if not row["is_orphan"]]
        strayed = self.strayed(job, rows)
        if len(live) > 1:
            yield f"registered {len(live)} times"
        elif not live and strayed:
            yield f"runs in database {strayed[0]['database']}, should be {job.database}"
        elif not live:
            yield "not registered"
        for row in live[:1]:
            yield from self._differences(job, row)
        for row in mine:
            if row["is_orphan"]:
                yield f"left over from database {row['database']}, which is gone"

    def _differences(self, job: Wanted, row: Row) -> Iterator[str]:
        pairs = [
            ("name", row["job"], job.name),
            ("schedule", row["schedule"], job.schedule),
            ("command", row["command"], job.command),
            ("database", row["database"], job.database),
        ]
        if self.server["uses_workers"] != "on":  # else no connection is made
            pairs.append(("port", row["nodeport"], self.server["port"]))
            if self.server["cron_host"] is not None:
                pairs.append(("host", row["nodename"], self.server["cron_host"]))
        for what, is_now, should_be in pairs:
            if is_now != should_be:
                yield f"{what} is {is_now}, should be {should_be}"
        if not row["active"]:
            yield "not active"
        if not row["can_run"]:
            yield f"its owner {row['username']} cannot run it: {row['why_not']}"

    def take_away(self, names: set[str]) -> list[str]:
        """Unschedule what there is of these jobs; what was there."""
        gone = []
        surplus = self.surplus()
        for job in (job for job in [*self.wanted(), *surplus] if job.name in names):
            rows = self.rows()
            strayed = [] if job in surplus else self.strayed(job, rows)
            for row in [*self.mine(job, rows), *strayed]:
                with self.acting(row["seen_as"]):
                    self.conn.execute("select cron.unschedule(%s::bigint)", [row["jobid"]])
                gone.append(row["job"])
        return gone

    def put(self, names: set[str]) -> None:
        """Register these jobs, all or none."""
        with self.acting(self.runner) as acting:
            for job in (job for job in self.wanted() if job.name in names):
                if self.is_elsewhere:
                    other = None if acting == self.runner else self.runner
                    cron_extension.schedule_elsewhere(self.conn, job, other)
                else:
                    call = [job.name, job.schedule, job.command]
                    self.conn.execute("select cron.schedule(%s, %s, %s)", call)


def inspect(conn: Connection, bundle: Bundle, cron: Connection | None = None) -> Driver:
    """Read-only: what is missing on the server, and how our jobs stand."""
    return _inspect(Cron(conn, bundle, cron))


def _inspect(place: Cron) -> Driver:
    driver = Driver(troubles=place.troubles(), is_usable=place.is_usable)
    if driver.is_usable:
        driver.findings = place.findings()
        wrong = {finding.identity for finding in driver.findings}
        driver.registered = [job.name for job in place.wanted() if job.name not in wrong]
    return driver


def register(conn: Connection, bundle: Bundle, cron: Connection | None = None) -> Driver:
    """Register what is missing or altered; says what cannot be."""
    place = Cron(conn, bundle, cron)
    server = place.server
    if (
        server["is_available"]
        and not server["is_created"]
        and server["cron_database"] == server["database_name"]
    ):
        cron_extension.create(place.conn)
        place = Cron(conn, bundle, cron)
    driver = _inspect(place)
    if not (driver.is_usable and driver.findings and place.runner):
        return driver
    wrong = {finding.identity for finding in driver.findings}
    try:
        with place.conn.transaction():
            place.take_away(wrong)
            place.put(wrong)
    except psycopg.Error as error:
        elsewhere = place.server["database_name"] if place.is_elsewhere else None
        user = place.server["user_name"]
        driver.troubles.append(cron_troubles.not_taken(db.describe(error)[0], user, elsewhere))
        return driver
    cron_extension.tell_health(conn)
    return _inspect(place)


def unregister(conn: Connection, bundle: Bundle, cron: Connection | None = None) -> list[str]:
    """Take our jobs of this database away."""
    place = Cron(conn, bundle, cron)
    if not place.is_usable:
        return []
    with place.conn.transaction():
        return place.take_away({job.name for job in [*place.wanted(), *place.surplus()]})


def _identity(conn: Connection) -> tuple[str, str]:
    """Whom the connection acts as, and who logged in."""
    query = b"select current_user::text as acts_as, session_user::text as logged_in"
    row = conn.execute(query).fetchone()
    assert row is not None  # one row by construction
    return row["acts_as"], row["logged_in"]


def _one(conn: Connection, query: str) -> Row:
    row = conn.execute(bundles.query(query).encode()).fetchone()
    assert row is not None  # one row by construction
    return row
