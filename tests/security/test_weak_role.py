"""Where the installing role may make no owner roles: everything that clients are promised still holds, by the functions' own
checks, the grants and the guards; what is weaker is said."""

from __future__ import annotations

import psycopg
import pytest

from tests.security import test_execute_matrix, test_row_matrix, test_rpcs
from tests.security.matrix import MATRIX, TENANT_COLUMN, VERBS
from tests.security.rpcs import CALLS, NAMED_ROWS, SAME_FOR_ALL
from tests.security.test_audit import AUDIT, SEED_CHANGES
from tests.security.test_table_matrix import expectation, outcome, statement
from tests.support.cli import lf_sql
from tests.support.database import Database
from tests.support.setups import Setup, acting
from tests.support.tenants import ALICE

CLIENTS = ("anon", "authenticated", "service_role", "stranger")


def test_it_says_what_is_weaker(weak: Setup, weak_two_tenants: Database) -> None:
    run = lf_sql("verify", dsn=weak.dsn(weak_two_tenants.dbname, weak.installer))
    assert "row security" in run.stdout + run.stderr
    assert weak.installer in run.stdout + run.stderr


def test_no_function_runs_as_more_than_the_installer(
    weak: Setup, weak_two_tenants: Database
) -> None:
    owners = weak_two_tenants.column(
        "select distinct p.proowner::regrole::text from pg_proc as p "
        "join lf_sql.sources as s on s.object_name = p.proname and s.kind = 'function' "
        "join pg_namespace as n on n.oid = p.pronamespace and n.nspname = s.schema_name"
    )
    assert owners == [weak.installer]


@pytest.mark.parametrize("table", MATRIX)
def test_the_table_matrix(table: str, weak_two_tenants: Database) -> None:
    for role in CLIENTS:
        for letter, verb in VERBS.items():
            found = outcome(weak_two_tenants, role, statement(weak_two_tenants, table, verb))
            assert found == expectation(MATRIX[table][role], letter), f"{role} {verb}"


@pytest.mark.parametrize("role", test_execute_matrix.ROLES)
def test_the_execute_matrix(role: str, weak_two_tenants: Database) -> None:
    test_execute_matrix.test_execute_matrix(role, weak_two_tenants)


@pytest.mark.parametrize("table", [t for t in TENANT_COLUMN if "S" in MATRIX[t]["authenticated"]])
def test_a_lenser_sees_his_own(table: str, weak_two_tenants: Database) -> None:
    test_row_matrix.test_a_lenser_sees_his_own(table, "authenticated", ALICE, weak_two_tenants)
    for claims in test_row_matrix.NOBODY.values():
        test_row_matrix.test_nobody_sees_nothing(table, "authenticated", claims, weak_two_tenants)


@pytest.mark.parametrize("name", sorted(CALLS.keys() - SAME_FOR_ALL))
def test_nobody_may_not(name: str, weak_two_tenants: Database) -> None:
    test_rpcs.test_nobody_may_not(name, weak_two_tenants)


@pytest.mark.parametrize(("name", "argument"), NAMED_ROWS)
def test_a_strangers_row_and_none(name: str, argument: str, weak_two_tenants: Database) -> None:
    """Here no policy stands behind the functions: each must ask whose row it is."""
    test_rpcs.test_a_strangers_row_and_none(name, argument, weak_two_tenants)


@pytest.mark.parametrize("name", CALLS)
def test_no_row_of_anothers_is_in_an_answer(name: str, weak_two_tenants: Database) -> None:
    test_rpcs.test_its_owner_may(name, weak_two_tenants)
    test_rpcs.test_no_row_of_anothers_is_in_an_answer(name, weak_two_tenants)


@pytest.mark.parametrize("table", AUDIT)
def test_the_audit_stays(table: str, weak: Setup, weak_two_tenants: Database) -> None:
    """For its owner, too; only what is older than 31 days he may delete, since the purge is his."""
    for role in ("authenticated", "service_role", weak.installer):
        for sql in (
            f"update {table} set lenser_id = lenser_id",
            f"delete from {table}",
            f"truncate {table}",
        ):
            with (
                pytest.raises(psycopg.Error) as caught,
                acting(weak_two_tenants, role, ALICE.claims),
            ):
                weak_two_tenants.execute(sql)
            assert caught.value.sqlstate == "42501"


@pytest.mark.parametrize("change", SEED_CHANGES)
def test_seeds_stay(change: str, weak: Setup, weak_two_tenants: Database) -> None:
    for role in ("service_role", weak.installer):
        with pytest.raises(psycopg.errors.InsufficientPrivilege), acting(weak_two_tenants, role):
            weak_two_tenants.execute(SEED_CHANGES[change])


def test_no_run_starts_past_its_owner(weak_two_tenants: Database) -> None:
    for sql in (
        "update lenses.workflow_runs set status = 'pending'",
        "update lenses.workflow_runs set status = 'running', worker_id = 'w', lease_expires_at = now()",
        "update agents.team_runs set approval_status = 'approved'",
        f"insert into lenses.workflow_runs (workflow_id, schedule_id, status) values ('{ALICE.workflow}', '{ALICE.schedule}', 'pending')",
    ):
        with acting(weak_two_tenants, "service_role"):
            weak_two_tenants.execute("set local client_min_messages = error")
            weak_two_tenants.execute(sql)
            assert weak_two_tenants.column("select distinct status from lenses.workflow_runs") == [
                "pending_approval"
            ]
            assert weak_two_tenants.column(
                "select distinct approval_status from agents.team_runs"
            ) == ["pending"]
