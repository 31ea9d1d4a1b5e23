"""Every column of lenses.workflow_schedules is known to whoever must know it.

A new column fails these until it is watched, saved, patched and written by upsert, or stands here
with the reason why not.
"""

from __future__ import annotations

import re

import pytest

from lf_sql.ascode.keys import SCHEDULE
from tests.support.database import Database

TICK = "the tick's own bookkeeping, written by the engine with dispatch_seq"
RESULT = "what became of a run, written by the engine when the run ends"

# Columns that no save is validated for.
UNWATCHED = {
    "id": "the primary key, which every slot key is made of",
    "updated_at": "the validating trigger sets it itself",
    "trigger_id": "which entry of a definition made the schedule; a unique key keeps it",
    "project": "fn_set_project's own, with a check constraint: no save touches it",
    "last_rotation_index": f"{TICK}; a check constraint keeps it",
    "last_run_at": TICK,
    "last_run_id": TICK,
    "last_dispatch_status": TICK,
    "last_error_at": TICK,
    "last_error_message": TICK,
    "last_completed_at": RESULT,
    "last_result": RESULT,
    "dispatch_seq": TICK,
    "failure_count": TICK,
    "is_deferred": TICK,
    "wait_reason": TICK,
    "tick_id": TICK,
    "tick_slots": TICK,
    "seen_until": TICK,
    "missed_before": TICK,
    "missed": TICK,
    "dropped": TICK,
    "spread_next_at": TICK,
    "spread_step": TICK,
}

# Columns that are watched, and that an RPC does not write by fn_save_schedule.
UNSAVED = {
    "created_at": "set once, by its default",
    "paused_at": "fn_pause_workflow_schedule's and fn_resume_workflow_schedule's own",
    "paused_until": "fn_pause_workflow_schedule's own",
    "pause_note": "fn_pause_workflow_schedule's and fn_resume_workflow_schedule's own",
    "missed_override": "fn_resume_workflow_schedule's own: p_on_missed",
    "next_run_at": "computed by the trigger",
    "due_at": "computed by the trigger",
    "cron_spec": "computed by the trigger from cron_expr",
    "max_in_flight": "computed by the trigger from queue_policy",
    "on_overlap": "computed by the trigger from queue_policy",
    "on_missed": "computed by the trigger from queue_policy",
    "max_backfill": "computed by the trigger from queue_policy",
    "spread_window_ms": "computed by the trigger from queue_policy",
    "is_sequential": "computed by the trigger from queue_policy and pre_dispatch_condition",
}

# Saved columns that a patch, an entry of a definition and a file of schedules cannot name.
UNPATCHED = {
    "workflow_id": "a schedule moves by fn_upsert_workflow_schedule, which locks both workflows",
    "trigger_id": "an entry of a definition is known by its id",
    "explicit_defaults": "follows from which policies the patch names",
}
# Saved columns that upsert does not assign.
NOT_UPSERTED = {"explicit_defaults": "a parameter's default cannot be told from no parameter"}
# Saved columns that a key of a file of schedules stands for without naming the column.
IN_FILE_OTHERWISE = {
    "schedule_type": "follows from which of cron, every and at there is",
    "end_at": "the end of `window`",
    "assignee_type": "`agent` or `team`",
}
# Saved columns whose change is no reason to try a failed slot anew.
MENDS_NOTHING = {
    "is_active": "a pause",
    "name": "a word for people",
    "description": "a word for people",
}


def columns(db: Database) -> set[str]:
    return set(
        db.column(
            "select attname::text from pg_attribute "
            "where attrelid = 'lenses.workflow_schedules'::regclass and attnum > 0 and not attisdropped"
        )
    )


def body(db: Database, name: str) -> str:
    return str(db.value("select prosrc from pg_proc where oid = %s::regproc", [name]))


def named_by(db: Database, trigger: str) -> set[str]:
    """The columns after `update of`."""
    return set(
        db.column(
            "select a.attname::text from pg_trigger as t cross join unnest(t.tgattr) as n (num) "
            "inner join pg_attribute as a on a.attrelid = t.tgrelid and a.attnum = n.num "
            "where t.tgrelid = 'lenses.workflow_schedules'::regclass and t.tgname = %s",
            [trigger],
        )
    )


def saved(db: Database) -> set[str]:
    update = body(db, "lenses.fn_save_schedule").partition("set workflow_id")[2]
    return set(re.findall(r"^\s+(\w+) = p_row\.\1\b", update, re.M)) | {"workflow_id"}


def test_each_column_is_watched(db: Database) -> None:
    watched = named_by(db, "workflow_schedules_check_update")
    assert watched | UNWATCHED.keys() == columns(db)
    assert not watched & UNWATCHED.keys()
    condition = str(
        db.value(
            "select pg_get_triggerdef(oid) from pg_trigger where tgname = 'workflow_schedules_check_update'"
        )
    ).partition("WHEN (")[2]
    # dispatch_seq tells whose write it is; next_run_at is compared and asked for NULL
    assert set(re.findall(r"old\.(\w+)", condition)) == watched | {"dispatch_seq"}
    assert set(re.findall(r"new\.(\w+)", condition)) == watched | {"dispatch_seq"}
    # what the first trigger may change, the copy in the due row must follow
    assert named_by(db, "workflow_schedules_due_update") == watched


def test_each_watched_column_is_saved(db: Database) -> None:
    watched = named_by(db, "workflow_schedules_check_update")
    update = saved(db)
    assert update | UNSAVED.keys() == watched - {"lenser_id"} | {"trigger_id"}
    insert = re.search(
        r"insert into lenses\.workflow_schedules as s \((.*?)\)",
        body(db, "lenses.fn_save_schedule"),
        re.S,
    )
    assert insert
    assert set(re.findall(r"\w+", insert[1])) == update | {"id", "lenser_id"}


def test_each_saved_column_is_patched_and_upserted(db: Database) -> None:
    patch = body(db, "lenses.fn_patch_schedule_row")
    assert (
        set(re.findall(r"when '(\w+)' then\s+p_row\.\1 :=", patch)) == saved(db) - UNPATCHED.keys()
    )
    upsert = body(db, "public.fn_upsert_workflow_schedule")
    assigned = set(re.findall(r"v_row\.(\w+) :=", upsert)) - {"id", "lenser_id"}
    assert assigned == saved(db) - NOT_UPSERTED.keys()


def test_each_saved_column_has_a_key_in_files_and_definitions(db: Database) -> None:
    keys = {column for column, _ in SCHEDULE.values()} | IN_FILE_OTHERWISE.keys()
    assert keys == saved(db) - UNPATCHED.keys()
    listed = re.search(
        r"c_trigger_keys constant text\[\] := array\[(.*?)\]",
        body(db, "lenses.fn_check_definition"),
        re.S,
    )
    assert listed
    assert set(re.findall(r"'(\w+)'", listed[1])) - {"id", "type"} == saved(db) - UNPATCHED.keys()


def test_an_edit_that_can_mend_has_a_failed_slot_tried_anew(db: Database) -> None:
    no_edit = re.search(
        r"c_no_edit constant text\[\] := array\[(.*?)\]", body(db, "lenses.fn_clear_mended"), re.S
    )
    assert no_edit
    assert set(re.findall(r"'(\w+)'", no_edit[1])) & saved(db) == MENDS_NOTHING.keys()


@pytest.mark.parametrize(
    "listed",
    [UNWATCHED, UNSAVED, UNPATCHED, NOT_UPSERTED, IN_FILE_OTHERWISE, MENDS_NOTHING],
)
def test_no_exception_is_of_a_column_that_is_gone(db: Database, listed: dict[str, str]) -> None:
    assert listed.keys() <= columns(db)
