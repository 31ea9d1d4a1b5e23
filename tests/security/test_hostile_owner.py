"""What stands in our place and is somebody else's: every command refuses with one line, and nothing planted ever runs."""

from __future__ import annotations

import subprocess
import threading
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

from lf_sql import apply, bundle, export, extension, preflight
from lf_sql import db as product_db
from lf_sql.console.database import Database as Console
from lf_sql.console.database import DatabaseGoneError
from lf_sql.errors import LfSqlError, Refusal
from lf_sql.link import Link, Outage
from tests.security.planted import EVIL, calls, evil_in
from tests.support.cli import lf_sql, refused, succeeded
from tests.support.database import Database, connect
from tests.support.processes import running
from tests.support.tenants import ALICE

USER = "00000000-0000-4000-8000-000000000001"
COMMANDS = (
    ("install",),
    ("install", "--dry-run"),
    ("upgrade",),
    ("status",),
    ("verify",),
    ("uninstall", "--yes"),
    ("schedule", "list"),
    ("schedule", "health"),
    ("schedule", "create", "w", "--cron", "0 9 * * *"),
    ("schedule", "describe", "0 9 * * *"),
    ("runs", "list"),
    ("runs", "work", "--once", "--", "true"),
    ("gateway", "list"),
    ("workflow", "list"),
    ("workflow", "create", "w"),
    ("metrics",),
    ("console", "--as", USER, "--port", "0"),
    ("worker",),
)

# A database where lf-sql is not: the hostile role was faster. Tables that look right, and views that call his function.
BEFORE_US = """
create schema lf_sql; create schema lensers; create schema lenses; create schema agents; create schema automation;
grant usage on schema lf_sql, lensers, lenses, agents, automation to public;
create table lf_sql.migrations (version integer, slug text, checksum text, checksum_algorithm smallint);
create view lf_sql.installs as select evil.trap()::bigint as id, '0.1.0'::text as product_version, ''::text as source_digest,
  1::smallint as digest_algorithm, 15 as server_major, '{}'::jsonb as role_map, now() as installed_at, ''::text as installed_by;
create view lf_sql.sources as select ''::text as kind, ''::text as schema_name, evil.trap()::text as object_name,
  ''::text as owned_by, false as is_replaceable;
create view lf_sql.expected_objects as select ''::text as kind, evil.trap()::text as identity, '{}'::jsonb as facts;
insert into lf_sql.migrations values (0, 'ledger', '', 1);
create view lensers.profiles as select gen_random_uuid() as id, gen_random_uuid() as user_id, evil.trap()::text as handle;
create view lenses.dispatch_settings as select evil.trap() as ticks_retention;
create view lenses.worker_heartbeats as select evil.trap()::text as worker_id, true as is_leader, now() as beat_at;
create function lenses.fn_health(jsonb, boolean) returns table (check_name text) language sql as 'select evil.trap()::text';
create function lenses.fn_metrics() returns table (name text) language sql as 'select evil.trap()::text';
create function lenses.fn_tick_begin(text, integer) returns bigint language sql as 'select evil.trap()::bigint';
create function lenses.fn_worker_heartbeat(text, text, integer, boolean, text) returns void language sql as 'select evil.trap()';
create function lenses.fn_invariant_violations() returns table (name text) language sql as 'select evil.trap()::text';
"""

# An installed database in which, by somebody's carelessness, the hostile role has got something of ours into its hands.
# The first word of each name is what the refusal must name.
GIVEN_AWAY = {
    "schema lf_sql": f"alter schema lf_sql owner to {EVIL}",
    "schema automation": f"alter schema automation owner to {EVIL}",
    "table lenses.workflows": f"alter table lenses.workflows owner to {EVIL}",
    "view lenses.worker_heartbeats": "alter table lenses.worker_heartbeats rename to kept; "
    "create view lenses.worker_heartbeats as select *, evil.trap() from lenses.kept; "
    f"grant select on lenses.kept to {EVIL}; alter view lenses.worker_heartbeats owner to {EVIL}",
    "view lf_sql.installs": "alter table lf_sql.installs rename to kept; "
    "create view lf_sql.installs as select k.*, evil.trap() from lf_sql.kept as k",
    "foreign table lenses.far": "create foreign data wrapper lf_test_far; create server lf_test_far "
    "foreign data wrapper lf_test_far; create foreign table lenses.far (id integer) server lf_test_far",
    "materialized view lenses.copied": "create materialized view lenses.copied as select 1 as one",
    "function lenses.fn_health(jsonb,boolean)": "create or replace function lenses.fn_health(p_facts jsonb "
    "default null, p_has_schedules boolean default true) returns table (check_name text, state text, label text, detail text, advice text, "
    "schedule_id uuid) language sql as $$ select evil.trap()::text, '', '', '', '', null::uuid $$; "
    f"alter function lenses.fn_health(jsonb, boolean) owner to {EVIL}",
    "function public.fn_get_workflows(name)": "create function public.fn_get_workflows(p name default '') returns "
    f"integer language sql as 'select evil.trap()'; alter function public.fn_get_workflows(name) owner to {EVIL}",
    "type lenses.planted": f"create domain lenses.planted as text check (evil.trap() > 0); "
    f"alter domain lenses.planted owner to {EVIL}",
    "type public.fn_lint_schedule": "create domain public.fn_lint_schedule as text check (evil.trap() > 0); "
    f"alter domain public.fn_lint_schedule owner to {EVIL}",
    "type public.fn_schedule_load": "create table public.fn_schedule_load (id integer); "
    f"alter table public.fn_schedule_load owner to {EVIL}",
    "trigger aa on lensers.profiles": "create function evil.tg() returns trigger language plpgsql as "
    f"$$ begin perform evil.trap(); return new; end $$; alter function evil.tg() owner to {EVIL}; "
    "create trigger aa before insert or update on lensers.profiles for each row execute function evil.tg()",
    "foreign key fk_profile_fkey on evil.fk": "create table evil.fk (profile uuid references lensers.profiles (id) "
    f"on delete cascade); alter table evil.fk owner to {EVIL}",
    "rule aa on lenses.workflows": "create rule aa as on insert to lenses.workflows do also select evil.trap()",
}  # fmt: skip


@pytest.fixture
def evil_first(empty_db: Database) -> Iterator[Database]:
    with evil_in(empty_db) as evil:
        evil.execute(BEFORE_US)
        yield empty_db


@pytest.fixture
def evil_later(db: Database) -> Iterator[Database]:
    with evil_in(db):
        yield db


def test_nobody_else_may_have_made_our_schemas(evil_first: Database) -> None:
    for command in COMMANDS:
        refused(
            lf_sql(*command, dsn=evil_first.dsn), f"schema agents belongs to {EVIL}", "drop schema"
        )
        assert calls(evil_first) == 0, command


@pytest.mark.parametrize("what", GIVEN_AWAY)
def test_what_a_stranger_has_in_his_hands(what: str, evil_later: Database) -> None:
    evil_later.execute(GIVEN_AWAY[what])
    for command in COMMANDS:
        refused(lf_sql(*command, dsn=evil_later.dsn), what, "reads and calls nothing here")
        assert calls(evil_later) == 0, command


def test_the_owner_of_the_database_says_whom_a_session_acts_as(empty_db: Database) -> None:
    """`set role` at the database: all is his that is the connected role's, and his code may be who logged in again."""
    with evil_in(empty_db) as evil:
        empty_db.execute(
            f'alter database "{empty_db.dbname}" owner to {EVIL}; grant all on schema public to {EVIL}'
        )
        written = scripts(empty_db.dsn)
        succeeded(lf_sql("install", dsn=evil.dsn))
        evil.execute(
            "drop function lenses.fn_next_wake(integer); "
            "create function lenses.fn_next_wake(p_lookahead_ms integer) returns integer "
            "language sql as 'select evil.trap()'; create trigger aa before update on lf_sql.installs "
            "for each row execute function pg_catalog.suppress_redundant_updates_trigger()"
        )
        empty_db.execute(f'alter database "{empty_db.dbname}" set role = {EVIL}')
        for command in COMMANDS:
            refused(lf_sql(*command, dsn=empty_db.dsn), "setting role of the database", EVIL)
        for name, text in written.items():
            with (
                connect(empty_db.dsn) as psql,
                pytest.raises(psycopg.errors.InsufficientPrivilege, match="setting role"),
            ):
                psql.execute(f"begin;\n{text}" if name == "extension" else text)
        product_db.connect(evil.dsn).close()
        trusting = {"LF_SQL_OWNER": EVIL}
        said = lf_sql("verify", dsn=empty_db.dsn, env=trusting).stdout
        assert f"role of the database\tis {EVIL}" in said
        empty_db.execute(f'alter database "{empty_db.dbname}" reset role')
        assert calls(empty_db) == 0


# Schemas of others that imports read: by name alone they would be anybody's.
READ_BY_NAME = {
    "pg-cron": "create schema cron; grant usage on schema cron to public; create view cron.job as select "
    "evil.trap() as jobid, '* * * * *'::text as schedule, 'select 1'::text as command, ''::text as database, "
    "''::text as username, true as active, 'j'::text as jobname",
    "pg-timetable": "create schema timetable; grant usage on schema timetable to public; create view timetable.chain "
    "as select evil.trap() as chain_id, 'c'::text as chain_name, '* * * * *'::text as run_at, 1 as max_instances, "
    "0 as timeout, true as live, false as self_destruct, false as exclusive_execution, null::text as client_name; "
    "create table timetable.task (chain_id integer, task_order integer, task_id integer, task_name text, kind text, "
    "command text, ignore_error boolean, autonomous boolean, database_connection text); "
    "create table timetable.parameter (task_id integer, order_id integer, value jsonb)",
}


def test_imports_read_nothing_of_a_strangers(empty_db: Database) -> None:
    with evil_in(empty_db) as evil:
        for what, planted in READ_BY_NAME.items():
            evil.execute(planted)
            refused(lf_sql("import", what, dsn=empty_db.dsn), "in this database")
            assert calls(empty_db) == 0, what


def test_what_came_after_the_question_is_not_read(
    empty_db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    facts = product_db.facts
    with evil_in(empty_db) as evil, product_db.connect(empty_db.dsn) as conn:

        def late(conn: product_db.Connection) -> dict[str, Any]:
            evil.execute(BEFORE_US)
            return facts(conn)

        monkeypatch.setattr(product_db, "facts", late)
        with pytest.raises(Refusal, match=f"schema agents belongs to {EVIL}"):
            apply.prepare(conn, bundle.load())
        with pytest.raises(LfSqlError, match="not installed"):
            product_db.require_installed(conn)
        assert calls(empty_db) == 0


def test_a_worker_that_is_kept(db: Database) -> None:
    """lf-sql goes, and somebody else's comes in its place, between two ticks."""
    with evil_in(db), running(db.dsn, "worker") as worker:
        worker.says("leading")
        db.execute(
            "begin; alter schema lenses rename to gone; create schema lenses; "
            "grant usage on schema lenses to public; "
            "create function lenses.fn_tick_begin(text, integer) returns bigint language sql as 'select evil.trap()::bigint'; "
            "create function lenses.fn_worker_heartbeat(text, text, integer, boolean, text) returns void language sql "
            "as 'select evil.trap()'; create function lenses.fn_remove_worker(text) returns void language sql "
            f"as 'select evil.trap()'; alter schema lenses owner to {EVIL}; commit"
        )
        worker.says(f"schema lenses belongs to {EVIL}")
        assert calls(db) == 0
        db.execute("drop schema lenses cascade; alter schema gone rename to lenses")


def test_an_executor_that_is_kept(db: Database) -> None:
    """After it has found nothing of lf-sql's, it asks before it calls what came since."""
    call = "select lenses.fn_next_wake(%s::integer) as wake"
    outage = Outage(lambda line: None)
    link = Link("work", lambda: product_db.connect(db.dsn), outage, threading.Event())
    with evil_in(db):
        link.once(call, [1000])
        db.execute("alter schema lenses rename to gone")
        with pytest.raises(psycopg.errors.InvalidSchemaName):
            link.once(call, [1000])
        with pytest.raises(LfSqlError, match="not installed"):
            link.once(call, [1000])
        db.execute(
            "create schema lenses; grant usage on schema lenses to public; create function "
            "lenses.fn_next_wake(integer) returns integer language sql as 'select evil.trap()'; "
            f"alter schema lenses owner to {EVIL}"
        )
        with pytest.raises(Refusal, match=f"schema lenses belongs to {EVIL}"):
            link.once(call, [1000])
        assert calls(db) == 0
        link.close()
        db.execute("drop schema lenses cascade; alter schema gone rename to lenses")


def test_a_console_that_is_kept(own_two_tenants: Database) -> None:
    """A better match for a function of ours, made when the console's sessions are open."""
    console = Console(own_two_tenants.dsn, ALICE.user)
    with evil_in(own_two_tenants):
        lint = "select public.fn_preview_schedule_ticks(%s, 3, '366 days')"
        with console.reading() as conn:
            conn.execute(lint, [str(ALICE.schedule)])
        own_two_tenants.execute(
            "create function public.fn_preview_schedule_ticks(text, smallint, interval) returns integer "
            "language sql as 'select evil.trap()'; alter function "
            f"public.fn_preview_schedule_ticks(text, smallint, interval) owner to {EVIL}"
        )
        with (
            pytest.raises(DatabaseGoneError, match=f"belongs to {EVIL}"),
            console.reading() as conn,
        ):
            conn.execute(lint, [str(ALICE.schedule)])
        assert calls(own_two_tenants) == 0
        own_two_tenants.execute(
            "drop function public.fn_preview_schedule_ticks(text, smallint, interval)"
        )
        with console.reading() as conn:
            conn.execute(lint, [str(ALICE.schedule)])
    console.close()


def test_without_the_question_his_code_runs(
    evil_first: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(preflight, "refuse_strangers", lambda rows: None)
    for command in (("install",), ("schedule", "health"), ("metrics",)):
        before = calls(evil_first)
        lf_sql(*command, dsn=evil_first.dsn)
        assert calls(evil_first) > before, command


def scripts(dsn: str) -> dict[str, str]:
    """Every SQL that lf-sql writes for others to run; `dsn` is of an empty database."""
    tree = bundle.load()
    return {
        "dry run": succeeded(lf_sql("install", "--dry-run", dsn=dsn)),
        "supabase": "".join(export.supabase_script(tree)),
        "extension": "".join(
            line
            for line in "".join(extension.script(tree)).splitlines(keepends=True)
            if not line.startswith("\\")
        ),
    }


def test_scripts_ask_first(empty_db: Database) -> None:
    written = scripts(empty_db.dsn)
    with evil_in(empty_db) as evil:
        evil.execute(BEFORE_US)
        for name, text in written.items():
            with pytest.raises(
                psycopg.errors.InsufficientPrivilege, match=f"schema agents belongs to {EVIL}"
            ):
                empty_db.execute(f"begin;\n{text}" if name == "extension" else text)
            empty_db.execute("rollback")
            empty_db.execute("reset all")
            assert calls(empty_db) == 0, name


def test_scripts_stop_whoever_ignores_errors(empty_db: Database) -> None:
    """As psql is without ON_ERROR_STOP: nothing behind the refusal is done, jobs included."""
    written = scripts(empty_db.dsn)
    with evil_in(empty_db) as evil:
        evil.execute("create schema lenses")
        ours = "select count(*) from pg_class where relnamespace = 'lenses'::regnamespace"
        public = "select count(*) from pg_proc where pronamespace = 'public'::regnamespace"
        before = empty_db.value(public)
        for name in ("dry run", "supabase"):
            done = subprocess.run(
                ["psql", "-X", "-q", "-d", empty_db.dsn],
                input=written[name], capture_output=True, text=True, check=False,
            )  # fmt: skip
            assert f"schema lenses belongs to {EVIL}" in done.stderr, name
            assert (empty_db.value(ours), empty_db.value(public)) == (0, before), name
            first = done.stderr.index("ERROR")
            rest = [line for line in done.stderr[first:].splitlines()[1:] if "ERROR" in line]
            assert all("transaction is aborted" in line for line in rest), name


def test_scripts_hold_the_names_that_they_ask_for(empty_db: Database) -> None:
    """Nothing comes between their question and the rest of them."""
    written = scripts(empty_db.dsn)
    with evil_in(empty_db) as evil:
        evil.execute("set lock_timeout = '1ms'")
        for name, text in written.items():
            head = text[: text.index("$strangers$;") + len("$strangers$;")]
            empty_db.execute(f"begin;\n{head}" if name == "extension" else head)
            for schema in bundle.OWN_SCHEMAS:
                with pytest.raises(psycopg.errors.LockNotAvailable):
                    evil.execute(f"create schema {schema}")
            empty_db.execute("rollback")


def test_scripts_pin_the_path_before_anything_else(empty_db: Database) -> None:
    for name, text in scripts(empty_db.dsn).items():
        lines = [line for line in text.splitlines() if line and not line.startswith("--")]
        first = lines[1] if lines[0] == "begin;" else lines[0]
        assert (
            first.split(" ", 1)[1].removeprefix("local ") == "search_path = pg_catalog, pg_temp;"
        ), name


def test_a_plain_role_trusts_the_owner_of_the_database(evil_later: Database) -> None:
    """Where the role that installed stands for the owner roles, others still work; a superuser says whom he trusts."""
    evil_later.execute(f'alter database "{evil_later.dbname}" owner to {EVIL}')
    evil_later.execute(f"alter schema automation owner to {EVIL}")
    evil_later.execute(
        "do $$ begin create role lf_test_plain login; exception when duplicate_object then null; end $$"
    )
    product_db.connect(f"{evil_later.dsn} user=lf_test_plain").close()
    product_db.connect(f"{evil_later.dsn} user={EVIL}").close()
    refused(lf_sql("status", dsn=evil_later.dsn), "schema automation", f"LF_SQL_OWNER={EVIL}")
    assert (
        "reads and calls nothing"
        not in lf_sql("status", dsn=evil_later.dsn, env={"LF_SQL_OWNER": EVIL}).stderr
    )
    refused(
        lf_sql("status", dsn=evil_later.dsn, env={"LF_SQL_OWNER": "other"}), "schema automation"
    )
