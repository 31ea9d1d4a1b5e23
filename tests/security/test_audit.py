"""The audit cannot be rewritten, the seeds cannot be changed, a probe leaves a trace."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest

from tests.support.database import Database, wait_until
from tests.support.setups import AUTHENTICATOR, Setup, acting
from tests.support.tenants import ALICE

AUDIT = {
    "lenses.workflow_run_events": "occurred_at",
    "agents.agent_run_events": "occurred_at",
    "agents.action_logs": "occurred_at",
    "agents.approval_attempts": "minute",
}
ROLES = ("authenticated", "service_role", "lf_sql_owner", "lf_sql_engine", "installer", "superuser")
VERBS = {
    "update": "update {table} set lenser_id = lenser_id",
    "update of the time": "update {table} set {time} = {time} - interval '100 days'",
    "delete": "delete from {table}",
    "truncate": "truncate {table}",
    "merge": "merge into {table} as t using (select 1) as s on true when matched then delete",
}


@pytest.fixture
def gate(two_tenants: Database) -> Iterator[Database]:
    """A session as PostgREST has it: its login may become the request roles, and nothing else."""
    with two_tenants.another(user=AUTHENTICATOR) as conn:
        yield conn


def become(conn: Database, role: str, setup: Setup) -> None:
    conn.execute("select set_config('request.jwt.claims', %s, true)", [ALICE.claims])
    if role == "installer":
        role = setup.installer
    if role != "superuser":
        conn.execute("select set_config('role', %s, true)", [role])


def refused(conn: Database, role: str, setup: Setup, sql: str, mode: str = "origin") -> bool:
    try:
        with conn.transaction():
            conn.execute(f"set local session_replication_role = {mode}")
            become(conn, role, setup)
            conn.execute(sql)
    except psycopg.errors.InsufficientPrivilege:
        return True
    return False


def rows(conn: Database, table: str) -> str:
    return conn.value(
        f"select coalesce(string_agg(t::text, '|' order by t::text), '') from {table} as t"
    )


@pytest.mark.parametrize("mode", ["origin", "replica"])
@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("table", AUDIT)
def test_the_audit_stays(
    table: str, role: str, verb: str, mode: str, two_tenants: Database, setup: Setup
) -> None:
    """By each role up to the table's owner and a superuser, in replica mode too."""
    before = rows(two_tenants, table)
    assert before
    sql = VERBS[verb].format(table=table, time=AUDIT[table])
    assert refused(two_tenants, role, setup, sql, mode)
    assert rows(two_tenants, table) == before


@pytest.mark.parametrize("table", AUDIT)
def test_a_cascade_does_not_reach_it(table: str, two_tenants: Database) -> None:
    """A workflow that goes takes what belongs to it; the audit keeps the ids."""
    before = rows(two_tenants, table)
    two_tenants.execute("delete from agents.team_runs")
    two_tenants.execute("delete from lenses.workflow_runs")
    two_tenants.execute("delete from lenses.workflows")
    assert rows(two_tenants, table).startswith(before[:40])


@pytest.mark.parametrize("table", AUDIT)
def test_retention_takes_what_is_old_alone(table: str, two_tenants: Database, setup: Setup) -> None:
    """The purge runs as lf_sql_engine; rows of the last 31 days go for nobody, older ones for nobody else."""
    time = AUDIT[table]
    columns = "lenser_id, " + {
        "lenses.workflow_run_events": "run_id, seq, event_type",
        "agents.agent_run_events": "event_type",
        "agents.action_logs": "action_type",
        "agents.approval_attempts": "run_id, last_role, last_attempt",
    }[table]  # fmt: skip
    values = {
        "lenses.workflow_run_events": "gen_random_uuid(), 1, 'old'",
        "agents.agent_run_events": "'old'",
        "agents.action_logs": "'old'",
        "agents.approval_attempts": "gen_random_uuid(), 'old', 'old'",
    }[table]
    two_tenants.execute(
        f"insert into {table} ({columns}, {time}) select %s, {values}, now() - interval '32 days'",
        [ALICE.lenser],
    )
    old = f"delete from {table} where {time} < now() - interval '31 days'"
    for role in ("lf_sql_owner", "installer", "superuser"):
        assert refused(two_tenants, role, setup, old)
    with acting(two_tenants, "lf_sql_engine"):
        assert two_tenants.execute(old).rowcount == 1


def test_the_counter_only_counts_up(two_tenants: Database) -> None:
    """approval_attempts: the one UPDATE there is."""
    two_tenants.execute("set local role lf_sql_engine")
    two_tenants.execute("update agents.approval_attempts set attempts = attempts + 1")
    for change in ("attempts = attempts - 1", "attempts = attempts", "attempts = 100, minute = now()",
                   "attempts = 100, lenser_id = run_id", "attempts = null"):  # fmt: skip
        with pytest.raises(psycopg.Error) as caught, two_tenants.transaction():
            two_tenants.execute(f"update agents.approval_attempts set {change}")
        assert caught.value.sqlstate in ("42501", "23502")


SEED_CHANGES = {
    "update": "update lenses.schedule_calendars set dates = dates[1:1] where is_seed",
    "take over": f"update lenses.schedule_calendars set is_seed = false, lenser_id = '{ALICE.lenser}' where is_seed",
    "delete": "delete from lenses.schedule_calendars where is_seed",
    "truncate": "truncate lenses.schedule_calendars cascade",
    "own becomes seed": f"update lenses.schedule_calendars set is_seed = true, lenser_id = null where id = '{ALICE.spare_calendar}'",
    "merge": "merge into lenses.schedule_calendars as t using (select 1) as s on t.is_seed when matched then delete",
}


@pytest.mark.parametrize("mode", ["origin", "replica"])
@pytest.mark.parametrize("change", SEED_CHANGES)
@pytest.mark.parametrize("role", ["service_role", "lf_sql_engine", "installer", "superuser"])
def test_seeds_stay(role: str, change: str, mode: str, two_tenants: Database, setup: Setup) -> None:
    """No role changes one, and there is no setting that lets it."""
    seeds = "select string_agg(c::text, '|' order by name) from lenses.schedule_calendars as c where is_seed"
    before = two_tenants.value(seeds)
    assert refused(two_tenants, role, setup, SEED_CHANGES[change], mode)
    assert two_tenants.value(seeds) == before


def test_a_tenant_or_operator_makes_no_seed(two_tenants: Database) -> None:
    with pytest.raises(psycopg.errors.InsufficientPrivilege), acting(two_tenants, "service_role"):
        two_tenants.execute(
            "insert into lenses.schedule_calendars (name, kind, dates, is_seed) "
            "values ('planted', 'skip_dates', '{2030-01-01}', true)"
        )


SWITCHES = [
    "set local session_replication_role = replica",
    "alter table agents.action_logs disable trigger all",
    "alter table agents.action_logs disable trigger action_logs_refuse_delete",
    "alter table lenses.workflow_runs disable row level security",
    "alter table lenses.workflows no force row level security",
    "drop policy workflow_runs_owner_all on lenses.workflow_runs",
    "create policy mine on lenses.workflows using (true)",
    "drop trigger workflow_runs_admit on lenses.workflow_runs",
    "create trigger mine before insert on lenses.workflow_runs for each row "
    "execute function suppress_redundant_updates_trigger()",
    "create rule mine as on insert to lenses.workflow_runs do instead nothing",
    "drop table agents.action_logs",
    "alter function lensers.get_auth_lenser_id() immutable",
    "create function lenses.mine() returns integer language sql as 'select 1'",
    "create or replace function lensers.get_auth_lenser_id() returns uuid language sql "
    "as 'select null::uuid'",
    "create table lenses.mine (id integer)",
    "set local role lf_sql_engine",
    "set local role lf_sql_owner",
    "set local session authorization postgres",
    "grant lf_sql_engine to current_user",
    "reindex table lenses.workflows",
    "comment on table lenses.workflows is 'mine'",
    "create publication mine for table lenses.workflows",
    "copy lenses.workflows to program 'cat'",
    "copy lenses.workflows to '/tmp/mine'",
    "select lo_import('/etc/passwd')",
    "select pg_read_file('/etc/passwd')",
    "do $$ begin set local role lf_sql_engine; end $$",
]


@pytest.mark.parametrize("sql", SWITCHES)
@pytest.mark.parametrize("role", ["anon", "authenticated", "service_role"])
def test_no_request_role_switches_anything_off(
    role: str, sql: str, two_tenants: Database, gate: Database
) -> None:
    """What a role could try at the guards, in a session of authenticator's."""
    with pytest.raises(psycopg.Error) as caught, acting(gate, role, ALICE.claims):
        gate.execute(sql)
    assert caught.value.sqlstate == "42501"


def test_grants_are_not_handed_on(two_tenants: Database, gate: Database) -> None:
    """A GRANT without the option is a warning, and nothing else."""
    acl = "select relacl::text from pg_class where oid = 'lenses.workflows'::regclass"
    before = two_tenants.value(acl)
    for role in ("authenticated", "service_role"):
        with acting(gate, role):
            gate.execute("set local client_min_messages = error")
            gate.execute("grant select on lenses.workflows to public")
            assert gate.value(acl) == before


def test_a_silent_probe_is_heard(own_two_tenants: Database, setup: Setup) -> None:
    """What is rolled back leaves no run, and a line in the server's log."""
    runs = own_two_tenants.value("select count(*) from lenses.workflow_runs")
    heard = setup.server.log.count("approval_bypass_attempt")
    with own_two_tenants.transaction(force_rollback=True):
        own_two_tenants.execute("set local role service_role")
        own_two_tenants.execute(
            "insert into lenses.workflow_runs (workflow_id, schedule_id, status) values (%s, %s, 'pending')",
            [ALICE.workflow, ALICE.schedule],
        )
    assert own_two_tenants.value("select count(*) from lenses.workflow_runs") == runs
    wait_until(lambda: setup.server.log.count("approval_bypass_attempt") > heard, what="a log line")


def test_a_refused_start_is_kept(own_two_tenants: Database) -> None:
    """The refusal is no error, so its record is committed with it."""
    count = "select count(*) from agents.action_logs where action_type = 'approval_bypass_attempt'"
    before = own_two_tenants.value(count)
    with own_two_tenants.transaction():
        own_two_tenants.execute("set local role service_role")
        own_two_tenants.execute(
            "insert into lenses.workflow_runs (workflow_id, schedule_id, status) values (%s, %s, 'pending')",
            [ALICE.workflow, ALICE.schedule],
        )
        own_two_tenants.execute(
            "update lenses.workflow_runs set status = 'pending' where id = %s", [ALICE.run]
        )
    assert own_two_tenants.value(count) == before + 2
    assert (
        own_two_tenants.value(
            "select count(*) from lenses.workflow_runs where status <> 'pending_approval'"
        )
        == 0
    )


def test_a_flood_is_a_handful_of_rows(own_two_tenants: Database) -> None:
    """Ten rows a run and minute, and a counter that is exact."""
    attempts = 200
    before = own_two_tenants.value("select count(*) from agents.action_logs")
    counted = own_two_tenants.value("select sum(attempts) from agents.approval_attempts")
    with own_two_tenants.transaction():
        own_two_tenants.execute("set local client_min_messages = error")
        own_two_tenants.execute("set local role service_role")
        for _ in range(attempts):
            own_two_tenants.execute(
                "update lenses.workflow_runs set status = 'pending' where id = %s", [ALICE.run]
            )
    assert (
        own_two_tenants.value("select sum(attempts) from agents.approval_attempts")
        == counted + attempts
    )
    assert own_two_tenants.value("select count(*) from agents.action_logs") - before <= 10
