"""The list of attacks, each with the test that shows that it fails; and those that had no other place."""

from __future__ import annotations

import re
from pathlib import Path

import psycopg
import pytest

from lf_sql import apply, bundle
from lf_sql import db as product_db
from tests.support.database import Database
from tests.support.setups import acting
from tests.support.tenants import ALICE, BOB

TESTS = Path(__file__).parents[1]

SHOWN = {
    "no subject": "security/test_rpcs.py::test_nobody_may_not",
    "a malformed subject": "security/test_identity.py::test_the_helper_never_raises",
    "claims that are no JSON": "security/test_identity.py::test_the_helper_never_raises",
    "anon calls": "security/test_execute_matrix.py::test_execute_matrix",
    "identity in a plan": "security/test_identity.py::test_it_is_not_immutable",
    "claims in a pool": "security/test_identity.py::test_claims_do_not_survive_a_transaction",
    "a schedule on another's workflow": "security/test_rpcs.py::test_a_strangers_row_and_none",
    "is it there": "security/test_rpcs.py::test_a_strangers_row_and_none",
    "another's schedule": "security/test_rpcs.py::test_a_strangers_row_and_none",
    "links across tenants": "security/test_inputs.py::test_no_link_across_tenants",
    "a forgotten check": "security/test_leaks.py::test_a_forgotten_check_shows_nothing",
    "a lock first": "security/test_rpcs.py::test_a_locked_row_of_anothers_is_not_waited_for",
    "copies": "security/rules/view_no_copies.sql",
    "truncate": "security/test_table_matrix.py::test_cell",
    "a partition": "security/rules/table_partitions.sql",
    "a leaky predicate": "security/test_leaks.py::test_a_cheap_predicate_sees_no_hidden_row",
    "sampled values": "security/test_leaks.py::test_statistics_are_hidden",
    "a failing row": "security/test_leaks.py::test_a_failing_row_is_not_printed",
    "copy": "security/test_identity.py::test_copy_is_filtered_too",
    "a plan of another role": "security/test_identity.py::test_a_plan_of_the_owner_is_not_a_tenants",
    "temporary names": "security/test_search_path.py::test_temporary_objects_shadow_nothing",
    "planted operators": "security/test_search_path.py::test_planted_operators_are_not_called",
    "estimates": "security/test_leaks.py::test_estimates_stay_inside",
    "others' statements": "security/test_identity.py::test_other_sessions_are_not_seen",
    "secrets in code": "security/test_identity.py::test_no_secret_stands_in_a_function",
    "an unapproved start": "approvals/test_matrix.py::DOORS",
    "the state flipped": "approvals/test_matrix.py::DOORS",
    "the flag lowered": "security/test_schedules.py::test_approval_is_not_lowered",
    "evidence erased": "security/test_audit.py::test_the_audit_stays",
    "evidence truncated": "security/test_audit.py::test_the_audit_stays",
    "replica mode": "security/test_audit.py::test_no_request_role_switches_anything_off",
    "a trigger switched off": "security/test_audit.py::test_no_request_role_switches_anything_off",
    "a silent probe": "security/test_audit.py::test_a_silent_probe_is_heard",
    "a seed changed": "security/test_audit.py::test_seeds_stay",
    "an approval that ran out": "approvals/test_matrix.py::timed_out",
    "a tenant drives": "security/test_dispatcher.py::test_tenants_do_not_drive",
    "his own clock": "security/test_dispatcher.py::test_nobody_brings_his_own_clock",
    "pg_cron read": "security/test_dispatcher.py::test_pg_cron_is_out_of_reach",
    "pg_cron written": "security/test_dispatcher.py::test_pg_cron_is_out_of_reach",
    "an interval of nothing": "security/test_inputs.py::test_no_interval_is_a_storm",
    "a huge filter": "security/test_inputs.py::test_no_condition_is_a_bomb",
    "locks squatted": (
        "security/test_dispatcher.py::test_squatting_on_advisory_locks_stops_nothing"
    ),
    "a session ended": "security/test_attacks.py::test_no_session_is_ended",
    "rights after a drop": "security/test_attacks.py::test_what_is_made_anew_is_nobodys",
    "a gate that raises": "security/test_audit.py::test_a_refused_start_is_kept",
    "a row of nobody's": "security/test_leaks.py::test_a_row_of_nobodys_is_not_a_nobodys",
    "details of errors": "security/test_leaks.py::test_a_name_that_another_has_is_free",
    "wide JSON": "security/test_inputs.py::test_no_condition_is_a_bomb",
    "a giant key": "security/test_sizes.py::test_huge_values_are_refused",
    "patterns": "security/test_inputs.py::test_no_condition_is_a_bomb",
    "bounded repetition": "security/test_inputs.py::test_no_condition_is_a_bomb",
    "types confused": "validation/test_types.py::test_type_matrix",
    "time zones": "security/test_inputs.py::test_only_names_of_zones",
    "claims that a user edits": "security/rules/table_no_editable_claims.sql",
    "replication": "security/rules/catalogue_publications.sql",
    "what is reflected": "security/rules/function_no_public.sql",
    "the owner is bound": "security/rules/table_forced.sql",
    "a DSN that leaks": "security/test_neighbours.py::test_no_secret_is_handed_on",
    "every door": "approvals/test_matrix.py::DOORS",
    "an audit flood": "security/test_audit.py::test_a_flood_is_a_handful_of_rows",
    "restored without rights": "install/test_restore_ways.py::test_without_owners_and_privileges",
    "the job rewritten": "health/test_pg_cron.py::test_job_altered",
    "the job's log": "health/test_pg_cron.py::test_its_log_is_purged_by_our_job",
    "a date that never comes": "security/test_inputs.py::test_no_expression_is_a_bomb",
    "a flood of calls": "schedules/test_definition_triggers.py::test_the_cap_holds_for_them_too",
    "a huge page": "security/test_inputs.py::test_no_page_is_endless",
    "another's profile": "approvals/test_whose.py::test_an_operator_gives_a_profile_to_nobody_else",
    "a run past its workflow": (
        "approvals/test_whose.py::test_a_run_without_a_schedule_answers_to_its_workflow_s"
    ),
    "memory": "dispatch/test_memory.py::test_a_dry_run_of_ten_thousand_slots",
    "a long backfill": "dispatch/test_battle_locks.py::test_an_open_backfill_holds_up_nobody_else",
    "a terminal": "security/test_terminal.py::test_no_command_lets_it_through",
    "idle sockets": (
        "security/test_neighbours.py::test_scrapes_and_idle_clients_take_no_more_than_there_is"
    ),
    "anything else": "security/test_fuzz.py::test_some_calls",
}

NOT_OURS = {
    "schemas by another name": "names of schemas are fixed: there is no option for one",
    "names in a dump": "names of ours are fixed; a dump's other names are its reader's own",
    "two pairs of eyes": "the owner decides his own runs: the product has no second person",
    "a superuser": "a superuser is not withstood; request roles cannot edit the audit",
}


@pytest.mark.parametrize("attack", SHOWN)
def test_it_is_shown(attack: str) -> None:
    """The file is there, and in it the name."""
    path, _, name = SHOWN[attack].partition("::")
    text = (TESTS / path).read_text()
    assert not name or re.search(rf"^(def )?{name}\b", text, re.MULTILINE)


def test_each_that_is_not_has_a_reason() -> None:
    assert not SHOWN.keys() & NOT_OURS.keys()
    assert all(NOT_OURS.values())


@pytest.mark.parametrize("function", ["pg_terminate_backend", "pg_cancel_backend"])
@pytest.mark.parametrize("role", ["anon", "authenticated", "service_role"])
def test_no_session_is_ended(role: str, function: str, two_tenants: Database) -> None:
    """Neither the scheduler's nor anyone's."""
    with two_tenants.another() as victim:
        with (
            pytest.raises(psycopg.errors.InsufficientPrivilege),
            acting(two_tenants, role, ALICE.claims),
        ):
            two_tenants.execute(f"select {function}(%s)", [victim.info.backend_pid])
        assert victim.value("select 1") == 1


def test_what_is_made_anew_is_nobodys(db: Database) -> None:
    """An upgrade that drops and makes an RPC leaves it to those who had it, and nobody else."""
    name = "public.fn_get_workflows()"
    db.execute("drop function public.fn_get_workflows()")
    with product_db.connect(db.dsn) as conn:
        apply.install(conn, bundle.load())
    may = "select has_function_privilege(%s, %s, 'execute')"
    assert db.value(may, ["authenticated", name])
    for role in ("anon", "service_role"):
        assert not db.value(may, [role, name])


def test_a_schedule_s_id_that_another_has_tells_what_an_unknown_one_does(
    two_tenants: Database,
) -> None:
    """Refused as any row of another's is; a call that is refused for its input tells nothing of the id."""
    upsert = (
        "select public.fn_upsert_workflow_schedule(p_workflow_id => %s, p_schedule_id => %s, "
        "p_cron_expr => %s)"
    )
    patch = "select public.fn_patch_workflow_schedule(%s, '{}')"
    unknown = "0e37df36-f698-11e6-8dd4-cb9ced3df976"

    def said(query: str, *values: str) -> tuple[object, ...]:
        with (
            pytest.raises(psycopg.Error) as caught,
            acting(two_tenants, "authenticated", ALICE.claims),
        ):
            two_tenants.execute(query, values)
        found = caught.value.diag
        return found.sqlstate, found.message_primary, found.message_detail, found.message_hint

    taken = said(upsert, ALICE.workflow, BOB.schedule, "0 9 * * *")
    assert taken == said(patch, unknown) == said(patch, BOB.schedule)
    refusals = {said(upsert, ALICE.workflow, id_, "garbage") for id_ in (BOB.schedule, unknown)}
    assert len(refusals) == 1
    assert len({said(upsert, BOB.workflow, i, "0 9 * * *") for i in (BOB.schedule, unknown)}) == 1
