"""No plan makes the evaluation fail: parallel workers, compiled expressions, pushed-down conditions."""

from __future__ import annotations

import psycopg
import pytest

PAYLOADS = """
insert into payloads (v)
select (array['{"v": 5}', '{"v": -5}', '{"v": "5"}', '{"v": "x"}', '{"v": [5]}', '{"v": {"v": 5}}',
  '{"v": null}', '{}', '[]', '"v"', '5', '{"v": true}', '{"v": "2026-13-45T99:99:99Z"}',
  '{"v": "2026-01-01T00:00:00Z"}', '{"v": 1e400}', 'null'])[1 + n % 16]::jsonb
from generate_series(0, 16000 - 1) n
"""


@pytest.mark.parametrize(
    ("filter_", "expected"),
    [
        ('{"/v": {"gt": 0}}', 2000),
        ('{"/v": {"lt": 0}}', 1000),
        ('{"/v": {"gt": "2025-01-01T00:00:00Z"}}', 1000),
        ('{"/v": {"contains": 5}}', 1000),
        ('{"/v": {"neq": null}}', 10000),
    ],
)
def test_the_same_under_every_plan(db: psycopg.Connection, filter_: str, expected: int) -> None:
    db.execute("create table payloads (v jsonb)")
    db.execute(PAYLOADS)
    db.execute("analyze payloads")
    query = """
        select count(*) from payloads p
        where automation.fn_eval_filter(%s::jsonb, p.v) and jsonb_typeof(p.v) = 'object'
    """
    for settings in (
        {},
        {
            "jit": "on",
            "jit_above_cost": "0",
            "jit_inline_above_cost": "0",
            "jit_optimize_above_cost": "0",
        },
        {
            "min_parallel_table_scan_size": "0",
            "parallel_setup_cost": "0",
            "parallel_tuple_cost": "0",
            "max_parallel_workers_per_gather": "4",
        },
    ):
        with db.transaction():
            for name, value in settings.items():
                db.execute("select set_config(%s, %s, true)", (name, value))
            if "parallel_setup_cost" in settings:
                plan = db.execute("explain " + query, (filter_,)).fetchall()
                assert any("Gather" in line for (line,) in plan), plan
            assert db.execute(query, (filter_,)).fetchone() == (expected,)


def test_functions_say_what_they_are(db: psycopg.Connection) -> None:
    """Immutable and parallel safe, pinned to a safe path, and none a definer."""
    wrong = db.execute(
        """
        select p.oid::regprocedure::text from pg_proc p
        where (p.pronamespace = 'automation'::regnamespace or p.oid in (
          'lenses.fn_check_json(jsonb,text,int,int,int)'::regprocedure,
          'lenses.fn_check_policy(text,jsonb,jsonb)'::regprocedure,
          'lenses.fn_closest_word(text,text[])'::regprocedure,
          'lenses.fn_check_approval_policy(jsonb)'::regprocedure,
          'lenses.fn_check_retry_policy(jsonb)'::regprocedure,
          'lenses.fn_check_failure_policy(jsonb)'::regprocedure,
          'lenses.fn_check_queue_policy(jsonb)'::regprocedure,
          'lenses.fn_check_definition(jsonb)'::regprocedure,
          'lenses.fn_workflow_cycle(jsonb)'::regprocedure,
          'lenses.fn_workflow_actions(jsonb)'::regprocedure
        ))
        and (p.provolatile <> 'i' or p.proparallel <> 's' or p.prosecdef
          or p.proconfig is distinct from array['search_path=pg_catalog, pg_temp'])
        """
    ).fetchall()
    assert wrong == []
