"""What keeps pg_cron from driving a database, and the commands that mend it. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lf_sql import db

WORKER = "or let the process `lf-sql worker` drive it instead of pg_cron"


@dataclass(frozen=True)
class Trouble:
    """Why pg_cron does not drive this database, and the commands that mend it."""

    problem: str
    commands: tuple[str, ...]


def no_runner(names: list[str]) -> Trouble:
    """None of these roles, which the connections act as, could run a job."""
    first = db.ident(names[0])
    return Trouble(
        f"role {first} may not log in or may not call lenses.sp_dispatch_tick(), "
        "and pg_cron runs jobs as the role that registers them",
        (
            f"install as a role that may log in, without role={first} (PGOPTIONS, SET ROLE)",
            f"  and that acts as it: grant {first} to ROLE",
            f"or, as a superuser: alter role {first} login",
            "then: lf-sql install",
            WORKER,
        ),
    )


def not_taken(error: str, user: str, elsewhere: str | None) -> Trouble:
    """pg_cron's own refusal."""
    grants: tuple[str, ...] = (f"grant usage on schema cron to {db.ident(user)}",)
    if elsewhere is not None:
        grants += (
            "grant execute on function cron.schedule_in_database"
            f"(text, text, text, text, text, boolean) to {db.ident(user)}",
            "or give a superuser's --cron-dsn",
        )
    return Trouble(f"pg_cron did not take the job: {error}", (*grants, WORKER))


def troubles(server: Mapping[str, Any]) -> list[Trouble]:
    """What keeps pg_cron from driving this database. Pure."""
    database, user = server["database_name"], db.ident(server["user_name"])
    conf = (
        "in postgresql.conf:",
        "  shared_preload_libraries = 'pg_cron'   # behind what is there already",
        f"  cron.database_name = '{database}'",
        "  cron.use_background_workers = on",
        "  max_worker_processes = 16",
        "restart PostgreSQL, then: lf-sql install",
    )
    if not server["is_available"]:
        return [
            Trouble(
                "pg_cron is not installed on this server",
                (f"apt-get install postgresql-{server['server_major']}-cron", *conf, WORKER),
            )
        ]
    if server["sees_settings"] and server["cron_database"] is None:
        return [Trouble("pg_cron is not preloaded", (*conf, WORKER))]
    if server["sees_settings"] and server["cron_database"] != database:
        elsewhere = server["cron_database"]
        return [
            Trouble(
                f"pg_cron lives in database {elsewhere}, not in {database}",
                (
                    f"psql -d {elsewhere} -c 'create extension if not exists pg_cron'",
                    f"lf-sql install --cron-dsn 'dbname={elsewhere} ...'   # or LF_SQL_CRON_DSN",
                    "  (registers the jobs there, by cron.schedule_in_database)",
                    f"or set cron.database_name = '{database}', restart, and: lf-sql install",
                    WORKER,
                ),
            )
        ]
    if not server["is_created"]:
        return [
            Trouble(
                "the extension pg_cron is not created in this database",
                (
                    "as a superuser: create extension pg_cron",
                    "  (where pg_cron is preloaded and cron.database_name is this database;",
                    "  where it is another: lf-sql install --cron-dsn, the DSN of that one)",
                    f"as a superuser: grant usage on schema cron to {user}",
                    "then: lf-sql install",
                    WORKER,
                ),
            )
        ]
    found = []
    if not server["may_use"]:
        found.append(
            Trouble(
                f"role {user} may not use pg_cron",
                (
                    f"as a superuser: grant usage on schema cron to {user}",
                    "then: lf-sql install",
                    WORKER,
                ),
            )
        )
    if (
        server["uses_workers"] == "off"
        and not server["cron_host"].startswith("/")
        and not server["listen_addresses"].strip()
    ):
        found.append(
            Trouble(
                f"pg_cron connects to {server['cron_host']} by TCP, and the server does not listen",
                ("alter system set cron.use_background_workers = on", "restart PostgreSQL", WORKER),
            )
        )
    return found
