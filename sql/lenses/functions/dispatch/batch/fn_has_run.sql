-- owner: lf_sql_engine
-- Does a slot have a run? It has if there is one of the slot's id, or of the schedule and slot.
-- Each look-up follows the order of its index, as in lenses.fn_evaluate_slots: with plain equality,
-- a planner without statistics may read all of another index for each slot.
create or replace function lenses.fn_has_run(
  p_run_id uuid,
  p_schedule_id uuid,
  p_slot timestamptz
)
returns boolean
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
as $$
begin
  return exists (
    select from (
      select r.id from lenses.workflow_runs as r where r.id >= p_run_id order by r.id limit 1
    ) as n
    where n.id = p_run_id)
  or exists (
    select from (
      select r.schedule_id, r.scheduled_for
      from lenses.workflow_runs as r
      where (r.schedule_id, r.scheduled_for) >= (p_schedule_id, p_slot)
      order by r.schedule_id, r.scheduled_for
      limit 1
    ) as n
    where n.schedule_id = p_schedule_id and n.scheduled_for = p_slot);
end;
$$;
