-- owner: lf_sql_engine
-- Run-now, for public.fn_run_workflow_schedule_now: a run without a slot. Asks for itself who is
-- calling. Locks as the dispatcher does, schedule, then the agent's limit, so that limits and
-- rotation hold.
create or replace function lenses.fn_run_schedule(p_schedule_id uuid, p_inputs jsonb)
returns lenses.workflow_runs
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_schedule lenses.workflow_schedules := lenses.fn_require_schedule(p_schedule_id);
  v_decision lenses.slot_decision;
  v_run lenses.workflow_runs;
begin
  perform lenses.fn_check_json(p_inputs, 'p_inputs', 262144, 64, 20000);
  perform lenses.fn_lock_for_dispatch(v_schedule.id);
  select d.* into v_decision
  from lenses.fn_evaluate_slots(
    array[row(v_schedule.id, null, now(), false, null)::lenses.slot_candidate], now(), 'manual'
  ) as d;
  if not found then
    perform lenses.fn_require_schedule(p_schedule_id);
  end if;
  if v_decision.decision is distinct from 'dispatch' then
    raise exception using
      errcode = '22023',
      message = format('the run is refused: %s', v_decision.reason),
      detail = coalesce(v_decision.detail, 'The same guard would skip a slot.'),
      hint = case v_decision.reason
        when 'workflow_not_active' then 'Set the workflow to active first.'
        when 'assignee_missing' then 'Assign the schedule to an agent or team that is there.'
        when 'budget_exceeded' then 'Raise the agent''s limit, or wait for the next day (UTC).'
        when 'cycle_detected' then 'Remove an edge of the cycle.'
        else 'Mend what the reason names.' end;
  end if;
  if p_inputs is not null then
    v_decision.inputs := p_inputs;
    v_decision.rotation_index := null;
    v_decision.inputs_bytes := 0;
  end if;

  perform lenses.fn_check_waiting_runs(v_schedule.lenser_id, 1, false);
  perform lenses.fn_insert_runs(
    array[v_decision], now(), 'manual', v_schedule.lenser_id::text);
  select r.* into v_run from lenses.workflow_runs as r where r.id = v_decision.run_id;
  if v_decision.rotation_index is not null then
    update lenses.workflow_schedules as s set last_rotation_index = s.last_rotation_index + 1
    where s.id = v_schedule.id;
  end if;
  insert into agents.action_logs (lenser_id, schedule_id, action_type, payload)
  values (v_schedule.lenser_id, v_schedule.id, 'run_schedule_now', jsonb_strip_nulls(
    jsonb_build_object('run_id', v_run.id, 'rotation_index_used', v_decision.rotation_index)));
  return v_run;
end;
$$;
