-- owner: lf_sql_engine
-- Handles runs that were not inserted. Where the slot has a run by now the decision becomes a skip.
-- Where it has none, something kept the row away, and that is an error of that schedule.
create or replace function lenses.fn_resolve_conflicts(
  p_decisions lenses.slot_decision[],
  p_now timestamptz
)
returns lenses.slot_decision[]
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_lost record;
begin
  select d.schedule_id, d.slot into v_lost
  from unnest(p_decisions) as d
  where d.decision = 'dispatch' and not lenses.fn_has_run(d.run_id, d.schedule_id, d.slot)
  limit 1;
  if found then
    raise exception using
      message = format(
        'the run of slot %s of schedule %s was not inserted, and no other run has the slot',
        v_lost.slot, v_lost.schedule_id
      ),
      hint = 'Look for a trigger or rule on lenses.workflow_runs that drops rows.';
  end if;
  return array(
    select
      case when d.decision = 'dispatch' and r.id is null then row(
        d.schedule_id, d.slot, d.due_at, d.is_missed, d.available_at, 'skip',
        'schedule_slot_exists', 'skipped_overlap', 'the slot has a run already', d.inputs,
        d.rotation_index, d.run_id, d.idempotency_key, d.workflow_version, d.needs_approval,
        d.ai_lenser_id, d.team_id, d.limits, d.inputs_bytes, d.lenser_id, d.is_movable,
        d.is_replacing)::lenses.slot_decision
      else d end
    from unnest(p_decisions) as d
    left join lenses.workflow_runs as r
      on r.id = d.run_id and r.created_at = p_now and r.schedule_id = d.schedule_id);
end;
$$;
