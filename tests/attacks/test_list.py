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
    "A01 no subject": "attacks/test_rpcs.py::test_nobody_may_not",
    "A02 a malformed subject": "attacks/test_identity.py::test_the_helper_never_raises",
    "A03 claims that are no JSON": "attacks/test_identity.py::test_the_helper_never_raises",
    "A05 anon calls": "policies/test_execute_matrix.py::test_execute_matrix",
    "A08 identity in a plan": "attacks/test_identity.py::test_it_is_not_immutable",
    "A09 claims in a pool": "attacks/test_identity.py::test_claims_do_not_survive_a_transaction",
    "A10 a schedule on another's workflow": "attacks/test_rpcs.py::test_a_strangers_row_and_none",
    "A11 is it there": "attacks/test_rpcs.py::test_a_strangers_row_and_none",
    "A12 another's schedule": "attacks/test_rpcs.py::test_a_strangers_row_and_none",
    "A15 links across tenants": "attacks/test_inputs.py::test_no_link_across_tenants",
    "A16 a forgotten check": "attacks/test_leaks.py::test_a_forgotten_check_shows_nothing",
    "A17 a lock first": "attacks/test_rpcs.py::test_a_locked_row_of_anothers_is_not_waited_for",
    "A21 copies": "invariants/rules/V02_no_copies.sql",
    "A22 truncate": "policies/test_table_matrix.py::test_cell",
    "A23 a partition": "invariants/rules/T27_partitions.sql",
    "A26 a leaky predicate": "attacks/test_leaks.py::test_a_cheap_predicate_sees_no_hidden_row",
    "A27 sampled values": "attacks/test_leaks.py::test_statistics_are_hidden",
    "A28 a failing row": "attacks/test_leaks.py::test_a_failing_row_is_not_printed",
    "A30 copy": "attacks/test_identity.py::test_copy_is_filtered_too",
    "A32 a plan of another role": "attacks/test_identity.py::test_a_plan_of_the_owner_is_not_a_tenants",
    "A34 temporary names": "attacks/test_search_path.py::test_temporary_objects_shadow_nothing",
    "A35 planted operators": "attacks/test_search_path.py::test_planted_operators_are_not_called",
    "A36 estimates": "attacks/test_leaks.py::test_estimates_stay_inside",
    "A37 others' statements": "attacks/test_identity.py::test_other_sessions_are_not_seen",
    "A38 secrets in code": "attacks/test_identity.py::test_no_secret_stands_in_a_function",
    "A40 an unapproved start": "approvals/test_matrix.py::DOORS",
    "A41 the state flipped": "approvals/test_matrix.py::DOORS",
    "A43 the flag lowered": "attacks/test_schedules.py::test_approval_is_not_lowered",
    "A44 evidence erased": "attacks/test_audit.py::test_the_audit_stays",
    "A45 evidence truncated": "attacks/test_audit.py::test_the_audit_stays",
    "A46 replica mode": "attacks/test_audit.py::test_no_request_role_switches_anything_off",
    "A49 a trigger switched off": "attacks/test_audit.py::test_no_request_role_switches_anything_off",
    "A50 a silent probe": "attacks/test_audit.py::test_a_silent_probe_is_heard",
    "A52 a seed changed": "attacks/test_audit.py::test_seeds_stay",
    "A55 an approval that ran out": "approvals/test_matrix.py::timed_out",
    "A60 a tenant drives": "attacks/test_dispatcher.py::test_tenants_do_not_drive",
    "A61 his own clock": "attacks/test_dispatcher.py::test_nobody_brings_his_own_clock",
    "A62 pg_cron read": "attacks/test_dispatcher.py::test_pg_cron_is_out_of_reach",
    "A63 pg_cron written": "attacks/test_dispatcher.py::test_pg_cron_is_out_of_reach",
    "A64 an interval of nothing": "attacks/test_inputs.py::test_no_interval_is_a_storm",
    "A65 a huge filter": "attacks/test_inputs.py::test_no_condition_is_a_bomb",
    "A66 locks squatted": (
        "attacks/test_dispatcher.py::test_squatting_on_advisory_locks_stops_nothing"
    ),
    "A67 a session ended": "attacks/test_list.py::test_no_session_is_ended",
    "A69 rights after a drop": "attacks/test_list.py::test_what_is_made_anew_is_nobodys",
    "A71 a gate that raises": "attacks/test_audit.py::test_a_refused_start_is_kept",
    "A75 a row of nobody's": "attacks/test_leaks.py::test_a_row_of_nobodys_is_not_a_nobodys",
    "A76 details of errors": "attacks/test_leaks.py::test_a_name_that_another_has_is_free",
    "S02 wide JSON": "attacks/test_inputs.py::test_no_condition_is_a_bomb",
    "S03 a giant key": "invariants/test_sizes.py::test_huge_values_are_refused",
    "S04 patterns": "attacks/test_inputs.py::test_no_condition_is_a_bomb",
    "S05 bounded repetition": "attacks/test_inputs.py::test_no_condition_is_a_bomb",
    "S06 types confused": "filter/test_types.py::test_type_matrix",
    "S11 time zones": "attacks/test_inputs.py::test_only_names_of_zones",
    "S42 claims that a user edits": "invariants/rules/T09_no_editable_claims.sql",
    "S45 replication": "invariants/rules/C07_publications.sql",
    "S46 what is reflected": "invariants/rules/F03_no_public.sql",
    "S47 the owner is bound": "invariants/rules/T02_forced.sql",
    "S51 a DSN that leaks": "attacks/test_neighbours.py::test_no_secret_is_handed_on",
    "S56 every door": "approvals/test_matrix.py::DOORS",
    "S58 an audit flood": "attacks/test_audit.py::test_a_flood_is_a_handful_of_rows",
    "S61 restored without rights": "restore/test_restore.py::test_without_owners_and_privileges",
    "S63 the job rewritten": "health/test_pg_cron.py::test_job_altered",
    "S64 the job's log": "health/test_pg_cron.py::test_its_log_is_purged_by_our_job",
    "S65 a date that never comes": "attacks/test_inputs.py::test_no_expression_is_a_bomb",
    "S67 a flood of calls": "rpc/test_definition_triggers.py::test_the_cap_holds_for_them_too",
    "S68 a huge page": "attacks/test_inputs.py::test_no_page_is_endless",
    "another's profile": "approvals/test_whose.py::test_an_operator_gives_a_profile_to_nobody_else",
    "a run past its workflow": (
        "approvals/test_whose.py::test_a_run_without_a_schedule_answers_to_its_workflow_s"
    ),
    "memory": "runs/test_memory.py::test_a_dry_run_of_ten_thousand_slots",
    "a long backfill": "concurrency/test_battle_locks.py::test_an_open_backfill_holds_up_nobody_else",
    "a terminal": "attacks/test_terminal.py::test_no_command_lets_it_through",
    "idle sockets": (
        "attacks/test_neighbours.py::test_scrapes_and_idle_clients_take_no_more_than_there_is"
    ),
    "anything else": "attacks/test_fuzz.py::test_some_calls",
}

NOT_OURS = {
    "S50": "names of schemas are fixed: there is no option for one",
    "S55": "names of ours are fixed; a dump's other names are its reader's own",
    "S57": "the owner decides his own runs: the product has no second person",
    "S59": "a superuser is not withstood; request roles cannot edit the audit",
}


@pytest.mark.parametrize("attack", SHOWN)
def test_it_is_shown(attack: str) -> None:
    """The file is there, and in it the name."""
    path, _, name = SHOWN[attack].partition("::")
    text = (TESTS / path).read_text()
    assert not name or re.search(rf"^(def )?{name}\b", text, re.MULTILINE)


def test_each_that_is_not_has_a_reason() -> None:
    assert not {name.split()[0] for name in SHOWN} & NOT_OURS.keys()
    assert all(NOT_OURS.values())


@pytest.mark.parametrize("function", ["pg_terminate_backend", "pg_cancel_backend"])
@pytest.mark.parametrize("role", ["anon", "authenticated", "service_role"])
def test_no_session_is_ended(role: str, function: str, rooms: Database) -> None:
    """A67: neither the scheduler's nor anyone's."""
    with rooms.another() as victim:
        with (
            pytest.raises(psycopg.errors.InsufficientPrivilege),
            acting(rooms, role, ALICE.claims),
        ):
            rooms.execute(f"select {function}(%s)", [victim.info.backend_pid])
        assert victim.value("select 1") == 1


def test_what_is_made_anew_is_nobodys(db: Database) -> None:
    """A69: an upgrade that drops and makes an RPC leaves it to those who had it, and nobody else."""
    name = "public.fn_get_workflows()"
    db.execute("drop function public.fn_get_workflows()")
    with product_db.connect(db.dsn) as conn:
        apply.install(conn, bundle.load())
    may = "select has_function_privilege(%s, %s, 'execute')"
    assert db.value(may, ["authenticated", name])
    for role in ("anon", "service_role"):
        assert not db.value(may, [role, name])


def test_a_schedule_s_id_that_another_has_tells_what_an_unknown_one_does(rooms: Database) -> None:
    """Refused as any row of another's is; a call that is refused for its input tells nothing of the id."""
    upsert = (
        "select public.fn_upsert_workflow_schedule(p_workflow_id => %s, p_schedule_id => %s, "
        "p_cron_expr => %s)"
    )
    patch = "select public.fn_patch_workflow_schedule(%s, '{}')"
    unknown = "0e37df36-f698-11e6-8dd4-cb9ced3df976"

    def said(query: str, *values: str) -> tuple[object, ...]:
        with pytest.raises(psycopg.Error) as caught, acting(rooms, "authenticated", ALICE.claims):
            rooms.execute(query, values)
        found = caught.value.diag
        return found.sqlstate, found.message_primary, found.message_detail, found.message_hint

    taken = said(upsert, ALICE.workflow, BOB.schedule, "0 9 * * *")
    assert taken == said(patch, unknown) == said(patch, BOB.schedule)
    refusals = {said(upsert, ALICE.workflow, id_, "garbage") for id_ in (BOB.schedule, unknown)}
    assert len(refusals) == 1
    assert len({said(upsert, BOB.workflow, i, "0 9 * * *") for i in (BOB.schedule, unknown)}) == 1
