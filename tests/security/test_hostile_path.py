"""The database's own search_path is somebody else's: operators, domains and functions planted in front of the catalogue are
used by no command, no driver and no job."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

import lf_sql as package
from lf_sql import bundle
from lf_sql import db as product_db
from tests.security.planted import calls, evil_in
from tests.support.bouncer import pgbouncer
from tests.support.cli import lf_sql, succeeded
from tests.support.database import Database, connect, wait_until
from tests.support.processes import running
from tests.support.tenants import ALICE, populate

KINDS = (
    "uuid",
    "text",
    "timestamptz",
    "integer",
    "bigint",
    "jsonb",
    "boolean",
    "name",
    "oid",
    "double precision",
)
# sign, left, right, result
SIGNS = [
    (sign, kind, kind, "boolean")
    for sign in ("=", "<>", "<", "<=", ">", ">=")
    for kind in KINDS
] + [
    ("+", "timestamptz", "interval", "timestamptz"),
    ("-", "timestamptz", "interval", "timestamptz"),
    ("-", "timestamptz", "timestamptz", "interval"),
    ("+", "integer", "integer", "integer"),
    ("-", "bigint", "integer", "bigint"),
    ("||", "text", "text", "text"),
    ("||", "text", "anynonarray", "text"),
    ("~", "text", "text", "boolean"),
    ("->>", "jsonb", "text", "text"),
]  # fmt: skip
FUNCTIONS = (
    ("now()", "timestamptz", "pg_catalog.now()"),
    ("clock_timestamp()", "timestamptz", "pg_catalog.clock_timestamp()"),
    ("current_setting(text)", "text", "pg_catalog.current_setting($1)"),
    ("set_config(text, text, boolean)", "text", "pg_catalog.set_config($1, $2, $3)"),
    ("format(text, text)", "text", "pg_catalog.format($1, $2)"),
    ("concat(text, text)", "text", "pg_catalog.concat($1, $2)"),
    ("pg_backend_pid()", "integer", "pg_catalog.pg_backend_pid()"),
    ("gen_random_uuid()", "uuid", "pg_catalog.gen_random_uuid()"),
    ("lower(text)", "text", "pg_catalog.lower($1)"),
    ("max(bigint)", "bigint", "$1"),
)
DOMAINS = (
    "text",
    "uuid",
    "timestamptz",
    "jsonb",
    "bool",
    "int4",
    "int8",
    "interval",
    "name",
    "oid",
    "date",
)


def plant(evil: Database) -> None:
    """In front of the catalogue, all of it works as the real thing does, and counts."""
    for number, (sign, left, right, result) in enumerate(SIGNS):
        evil.execute(
            f"create function evil.op{number}(p {left}, q {right}) returns {result} language plpgsql as "
            f"$$ begin perform pg_catalog.nextval('evil.calls'); return p operator(pg_catalog.{sign}) q; end $$"
        )
        evil.execute(
            f"create operator evil.{sign} (leftarg = {left}, rightarg = {right}, function = evil.op{number})"
        )
    for signature, result, real in FUNCTIONS:
        evil.execute(
            f"create function evil.{signature} returns {result} language plpgsql as "
            f"$$ begin perform pg_catalog.nextval('evil.calls'); return {real}; end $$"
        )
    for name in DOMAINS:
        evil.execute(f"create domain evil.{name} as pg_catalog.{name} check (evil.trap() > 0)")


@pytest.fixture
def bent(db: Database) -> Iterator[Database]:
    """An installed database with two tenants whose owner has bent its path; `db` itself looks with a straight one."""
    populate(db)
    with evil_in(db) as evil:
        plant(evil)
        db.execute(f'alter database "{db.dbname}" set search_path = evil, pg_catalog, public')
        yield db


COMMANDS = (
    ("status",),
    ("install", "--dry-run"),
    ("schedule", "list"),
    ("schedule", "list", "--as", str(ALICE.user)),
    ("schedule", "show", str(ALICE.schedule)),
    ("schedule", "history", str(ALICE.schedule)),
    ("schedule", "preview", str(ALICE.schedule)),
    ("schedule", "pause", str(ALICE.schedule)),
    ("schedule", "resume", str(ALICE.schedule)),
    ("schedule", "run-now", str(ALICE.schedule)),
    ("schedule", "calendar", "list"),
    ("schedule", "describe", "0 9 * * 1"),
    ("runs", "list"),
    ("runs", "show", str(ALICE.run)),
    ("gateway", "list"),
    ("workflow", "list"),
    ("metrics",),
    ("runs", "work", "--once", "--", "true"),
)  # fmt: skip


def test_commands(bent: Database) -> None:
    for command in COMMANDS:
        succeeded(lf_sql(*command, dsn=bent.dsn))
        assert calls(bent) == 0, command


def test_health_verify_and_install(bent: Database) -> None:
    lf_sql("schedule", "health", dsn=bent.dsn)  # nothing ticks here
    said = lf_sql("verify", dsn=bent.dsn).stdout
    assert "search_path of the database" in said
    bent.execute("update lf_sql.installs set source_digest = ''")
    succeeded(lf_sql("install", dsn=bent.dsn))
    assert calls(bent) == 0


def test_install_into_it_and_uninstall(empty_db: Database) -> None:
    """What is bound when it is made (views, policies, CHECKs, defaults) is bound to the catalogue."""
    with evil_in(empty_db) as evil:
        plant(evil)
        empty_db.execute(
            f'alter database "{empty_db.dbname}" set search_path = evil, pg_catalog, public'
        )
        succeeded(lf_sql("install", dsn=empty_db.dsn))
        depends = """
            select pg_describe_object(d.classid, d.objid, d.objsubid) from pg_depend as d
            where (d.refclassid, d.refobjid) in (
              select 'pg_proc'::regclass, p.oid from pg_proc as p where p.pronamespace = 'evil'::regnamespace
              union all select 'pg_type'::regclass, t.oid from pg_type as t where t.typnamespace = 'evil'::regnamespace
              union all
              select 'pg_operator'::regclass, o.oid from pg_operator as o where o.oprnamespace = 'evil'::regnamespace
            ) and d.deptype = 'n' and not (d.classid, d.objid) in (
              select 'pg_proc'::regclass, p.oid from pg_proc as p where p.pronamespace = 'evil'::regnamespace
              union all select 'pg_operator'::regclass, o.oid from pg_operator as o where o.oprnamespace = 'evil'::regnamespace
              union all select 'pg_constraint'::regclass, c.oid from pg_constraint as c where c.connamespace = 'evil'::regnamespace
            )"""
        assert empty_db.column(depends) == []
        succeeded(lf_sql("uninstall", "--yes", dsn=empty_db.dsn))
        assert calls(empty_db) == 0


def test_the_script_of_a_dry_run(empty_db: Database) -> None:
    """In a session with the database's own path, jobs included."""
    with evil_in(empty_db) as evil:
        plant(evil)
        empty_db.execute(
            f'alter database "{empty_db.dbname}" set search_path = evil, pg_catalog, public'
        )
        script = succeeded(lf_sql("install", "--dry-run", dsn=empty_db.dsn))
        with connect(empty_db.dsn) as psql:
            psql.execute(script)
        assert calls(empty_db) == 0


def test_the_worker_and_the_executor(bent: Database) -> None:
    with running(bent.dsn, "worker") as worker:
        worker.says("leading")
        ticks = "select count(*) from lenses.dispatch_ticks where finished_at is not null"
        wait_until(lambda: bent.value(ticks) > 1)
        assert worker.stop() == 0
    with product_db.connect(bent.dsn) as conn:
        conn.execute("call lenses.sp_purge_history()")
    assert calls(bent) == 0


JOBS = {f"{job.name} {job.place}".strip(): job.command for job in bundle.load().jobs}
PROCEDURES = [command for command in JOBS.values() if "call lenses.sp_" in command]


@pytest.mark.parametrize("command", PROCEDURES)
def test_what_the_jobs_call(command: str, bent: Database) -> None:
    """As pg_cron runs it: a session with the database's own path."""
    with connect(bent.dsn) as cron:
        assert cron.value("show search_path") == "evil, pg_catalog, public"
        before = calls(bent)
        cron.execute(command)
        assert calls(bent) == before


def test_jobs_call_a_procedure_or_pin_the_path() -> None:
    """The path comes first; a CALL that commits shares its command with no other statement."""
    block = (
        r"do (\$\w+\$)\nbegin\n"
        r"  perform pg_catalog\.set_config\('search_path', 'pg_catalog, pg_temp', true\);\n.*\nend;\n\1"
    )
    for name, command in JOBS.items():
        is_block = re.fullmatch(block, command, re.DOTALL)
        assert is_block or command.startswith("set search_path = pg_catalog, pg_temp;"), name
        assert is_block or "lenses." not in command.replace("call lenses.sp", ""), name


OLD = "create procedure lenses.sp_planted() language plpgsql as $$ begin if now() >= 'epoch' then commit; end if; end $$"


def test_a_procedure_that_does_not_qualify_is_caught(bent: Database) -> None:
    bent.execute(OLD)
    with connect(bent.dsn) as cron:
        cron.execute("call lenses.sp_planted()")
    assert calls(bent) > 0


def test_through_a_pooler_that_passes_no_options(
    bent: Database, server: object, tmp_path: Path
) -> None:
    """Each transaction has our path; the sessions that others borrow afterwards have theirs."""
    with pgbouncer(server, tmp_path, "transaction", size=1) as port:  # type: ignore[arg-type]
        dsn = f"host=127.0.0.1 port={port} dbname={bent.dbname} user=postgres"
        for command in COMMANDS:
            succeeded(lf_sql(*command, dsn=dsn))
            assert calls(bent) == 0, command
        with product_db.connect(dsn) as conn:
            assert not conn.is_pinned
            [path] = conn.execute(
                "select pg_catalog.current_setting('search_path') as p"
            ).fetchall()
            assert path == {"p": "pg_catalog, pg_temp"}
            assert conn.execute("show search_path").fetchall() != [
                {"search_path": "pg_catalog, pg_temp"}
            ]


def test_options_of_the_user_stay(db: Database) -> None:
    with product_db.connect(
        f"{db.dsn} options='-c statement_timeout=7s -c search_path=public'"
    ) as conn:
        assert conn.is_pinned
        assert conn.execute("show statement_timeout").fetchall() == [{"statement_timeout": "7s"}]
        assert conn.execute("show search_path").fetchall() == [
            {"search_path": "pg_catalog,pg_temp"}
        ]


def test_settings_of_the_database_that_break_reading(db: Database) -> None:
    """Commands pin them; pg_cron's jobs cannot, and so verify names the one that stops them."""
    db.execute(
        f"alter database \"{db.dbname}\" set datestyle = 'SQL, DMY'; "
        f'alter database "{db.dbname}" set row_security = off'
    )
    succeeded(lf_sql("status", dsn=db.dsn))
    succeeded(lf_sql("schedule", "list", dsn=db.dsn))
    said = lf_sql("verify", dsn=db.dsn).stdout
    assert "row_security of the database\tis off" in said
    with product_db.connect(db.dsn) as conn:
        assert conn.execute("show datestyle").fetchall() == [{"DateStyle": "ISO, YMD"}]
        assert conn.execute("show row_security").fetchall() == [{"row_security": "on"}]


def test_there_is_one_way_to_connect() -> None:
    """Every connection of the program is made in db.py, which pins it; the demo's server only asks whether it is up,
    and a tenant's statements run on a connection of their own, in the search path of their role."""
    folder = Path(package.__file__).parent
    made = {
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*.py")
        if re.search(
            r"psycopg\.(Async)?[Cc]onnect(ion)?\b(\[[^]]*\])*\.?(connect)?\(", path.read_text()
        )
    }
    assert made == {"actions.py", "embedded.py"}
    opened = subprocess.run(
        ["grep", "-rlE", r"Connection\.connect\(", str(folder), "--include=*.py"],
        capture_output=True, text=True, check=True,
    ).stdout.split()  # fmt: skip
    assert [Path(path).name for path in opened] == ["db.py"]
