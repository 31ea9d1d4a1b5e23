"""Hosted PostgreSQL, modelled: the roles, grants and settings that each service's documentation tells of.

A model says what a role may do, not how the service is built. Where two sources differ the one that allows less counts.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.support.database import connect
from tests.support.server import TestServer, preload

HERE = Path(__file__).parent
EVERY_FUNCTION = "grant execute on all functions in schema cron"


@dataclass(frozen=True)
class Host:
    """`roles` are made by `superuser`, whom no customer has; `cron` runs once pg_cron is there, in its database."""

    name: str
    facts: tuple[str, ...]  # each with its source
    superuser: str
    admin: str  # who installs
    roles: str
    cron: str = ""
    cron_database: str = "postgres"
    database: str = "app"
    prepare: str = ""  # in the customer's database


RDS = Host(
    name="rds",
    facts=(
        "postgres: CREATEROLE, CREATEDB, in rds_superuser, no superuser; rdsadmin is the superuser: "
        "https://docs.aws.amazon.com/AmazonRDS/latest/UserGuide/Appendix.PostgreSQL.CommonDBATasks.Roles.rds_superuser.html",
        "pg_cron lives in postgres, and rds_superuser moves jobs to other databases by UPDATE of cron.job: "
        "https://docs.aws.amazon.com/AmazonRDS/latest/UserGuide/PostgreSQL_pg_cron.html",
        "cron.schedule_in_database is not granted: https://github.com/citusdata/pg_cron/issues/198",
    ),
    superuser="rdsadmin",
    admin="postgres",
    roles="""
create role rds_superuser nologin;
grant pg_monitor, pg_signal_backend to rds_superuser with admin option;
create role postgres login createrole createdb;
grant rds_superuser to postgres;
""",
    cron="""
grant usage on schema cron to rds_superuser with grant option;
grant select, update on cron.job to rds_superuser;
""",
)
RDS_OWN = Host(
    name="rds-own-database",
    facts=(*RDS.facts, "cron.database_name is a parameter of the parameter group: the same pages"),
    superuser=RDS.superuser,
    admin=RDS.admin,
    roles=RDS.roles,
    cron=RDS.cron,
    cron_database="app",
)
CLOUD_SQL = Host(
    name="cloud-sql",
    facts=(
        "postgres: CREATEROLE, CREATEDB, in cloudsqlsuperuser, no superuser: "
        "https://cloud.google.com/sql/docs/postgres/users",
        "pg_cron lives in postgres, jobs of other databases by cron.schedule_in_database: "
        "https://openillumi.com/en/en-cloud-sql-pg-cron-fix-postgres-db-error",
    ),
    superuser="cloudsqladmin",
    admin="postgres",
    roles="""
create role cloudsqlsuperuser nologin createrole createdb;
grant pg_monitor to cloudsqlsuperuser;
create role postgres login createrole createdb;
grant cloudsqlsuperuser to postgres;
""",
    cron=f"""
grant usage on schema cron to cloudsqlsuperuser;
{EVERY_FUNCTION} to cloudsqlsuperuser;
""",
)
AZURE = Host(
    name="azure",
    facts=(
        "the admin: LOGIN, NOSUPERUSER, INHERIT, CREATEDB, CREATEROLE, REPLICATION, in azure_pg_admin; azuresu is the superuser: "
        "https://learn.microsoft.com/en-us/training/modules/secure-azure-database-for-postgresql/3-describe-built-server-roles",
        "up to PostgreSQL 15 the admin may bypass row security: "
        "https://learn.microsoft.com/en-in/answers/questions/2006383/how-can-i-immediately-take-ownership-of-an-azure-p",
        "pg_cron lives where cron.database_name says, at first postgres: "
        "https://learn.microsoft.com/en-us/azure/postgresql/extensions/concepts-extensions-considerations",
        "its functions may be called, cron.job may not be written: https://github.com/NikolayS/pg_ash/issues/3",
    ),
    superuser="azuresu",
    admin="lfadmin",
    roles="""
create role azure_pg_admin nologin;
grant pg_monitor, pg_signal_backend to azure_pg_admin with admin option;
create role lfadmin login createrole createdb replication bypassrls;
grant azure_pg_admin to lfadmin;
""",
    cron=f"""
grant usage on schema cron to azure_pg_admin;
{EVERY_FUNCTION} to azure_pg_admin;
""",
)
SUPABASE = Host(
    name="supabase",
    facts=(
        "postgres: no superuser, supabase_admin is: https://supabase.com/docs/guides/database/postgres/roles-superuser",
        "pg_cron lives in the customer's database; postgres may call its functions and only read cron.job: "
        "https://github.com/supabase/postgres/pull/780",
        "statement_timeout is set for the request roles: https://supabase.com/docs/guides/database/postgres/timeouts",
    ),
    superuser="supabase_admin",
    admin="postgres",
    roles=(HERE / "supabase_roles.sql").read_text()
    + """
alter role anon set statement_timeout = '3s';
alter role authenticated set statement_timeout = '8s';
alter role authenticator set statement_timeout = '8s';
""",
    cron=f"""
grant usage on schema cron to postgres with grant option;
{EVERY_FUNCTION} to postgres with grant option;
grant select on cron.job to postgres with grant option;
""",
    cron_database="app",
    prepare=(HERE / "supabase_database.sql").read_text(),
)
NEON = Host(
    name="neon",
    facts=(
        "roles of the console: in neon_superuser, CREATEROLE, CREATEDB, BYPASSRLS, REPLICATION, no superuser: "
        "https://neon.com/docs/manage/roles and compute_tools/src/spec_apply.rs of https://github.com/neondatabase/neon",
        "pg_cron lives in the database of cron.database_name: https://neon.com/docs/extensions/pg_cron",
        "schema cron is cloud_admin's; the owner may use it and may not pass that on: "
        "https://github.com/neondatabase/neon/issues/12891",
    ),
    superuser="cloud_admin",
    admin="neondb_owner",
    roles="""
create role neon_superuser nologin createrole createdb bypassrls replication;
grant pg_read_all_data, pg_write_all_data, pg_monitor to neon_superuser;
create role neondb_owner login createrole createdb bypassrls replication;
grant neon_superuser to neondb_owner;
""",
    cron="grant usage on schema cron to neon_superuser",
    cron_database="app",
)
CRUNCHY = Host(
    name="crunchy",
    facts=(
        "postgres is a superuser: https://docs.crunchybridge.com/concepts/users/",
        "pg_cron lives where cron.database_name says, at first postgres: https://github.com/citusdata/pg_cron#readme",
    ),
    superuser="postgres",
    admin="postgres",
    roles="create role application login",
)
HOSTS = (RDS, RDS_OWN, CLOUD_SQL, AZURE, SUPABASE, NEON, CRUNCHY)


@contextmanager
def serving(host: Host) -> Iterator[TestServer]:
    """A server as the service hands it over, with pg_cron switched on and an empty database of the customer's."""
    assert preload("pg_cron"), "this build has no pg_cron"
    server = TestServer(
        {
            "shared_preload_libraries": "pg_cron",
            "cron.database_name": host.cron_database,
            "cron.use_background_workers": "on",
        }
    )
    try:
        if host.superuser != "postgres":
            with connect(server.dsn()) as bootstrap:
                bootstrap.execute(f"create role {host.superuser} superuser login")
            with connect(server.dsn(user=host.superuser)) as conn:
                conn.execute("alter role postgres rename to bootstrap")
        with connect(server.dsn(user=host.superuser)) as conn:
            conn.execute(host.roles)
            conn.execute(f"create database {host.database} owner {host.admin}")
        with connect(server.dsn(host.cron_database, host.superuser)) as conn:
            conn.execute("create extension pg_cron")
            conn.execute(host.cron)
        with connect(server.dsn(host.database, host.superuser)) as conn:
            conn.execute(host.prepare)
        yield server
    finally:
        server.stop()
