-- owner: lf_sql_engine
-- Writes what follows from a transition of a run; the guard calls it after it has accepted the
-- transition: exactly one event with the run's next number; exactly one of its team run, where
-- there is one (approval and reassignment write their own); and, where the run is over, its
-- schedule's last result. A transition by the engine gets the time that it wrote into the row (the
-- tick's own clock), any other gets now.
create or replace function lenses.fn_follow_run(
  p_old lenses.workflow_runs,
  p_new lenses.workflow_runs,
  p_is_engine boolean
)
returns void
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set timezone = 'UTC'
as $$
declare
  v_is_over constant boolean := p_new.status in ('completed', 'failed', 'cancelled', 'timed_out');
  v_why constant jsonb := case
    when v_is_over and p_new.status <> 'completed' then p_new.metadata -> 'result'
    when p_old.status = 'running' and p_new.status = 'pending' and p_is_engine
      then p_new.metadata -> 'last_failure' end;
  v_event constant text := case
    when v_is_over then 'run.' || p_new.status
    when p_new.status = 'running' then 'run.started'
    when p_new.status = 'pending_approval' then 'run.approval_requested'
    when p_old.status = 'pending_approval' then 'run.approved'
    when (p_new.ai_lenser_id, p_new.team_id) is distinct from (p_old.ai_lenser_id, p_old.team_id)
      then 'run.reassigned'
    else 'run.retried'
  end;
  v_payload constant jsonb := jsonb_strip_nulls(jsonb_build_object(
    'from', p_old.status, 'status', p_new.status,
    'attempt', case when p_old.status = 'running' then p_old.attempt else p_new.attempt end,
    'worker_id', case when p_new.status = 'running' or p_old.status = 'running'
      then coalesce(p_new.worker_id, p_old.worker_id) end,
    'cause', v_why ->> 'cause', 'error', left(v_why ->> 'error', 2000),
    'available_at', case when p_new.status = 'pending' then p_new.available_at end));
  v_at constant timestamptz := coalesce(case
    when not p_is_engine then null
    when v_is_over then p_new.completed_at
    when p_new.status = 'running' then p_new.started_at
    else (v_why ->> 'at')::timestamptz end, now());
begin
  insert into lenses.workflow_run_events (
    lenser_id, run_id, seq, event_type, payload, occurred_at
  )
  values (p_new.lenser_id, p_new.id, p_new.last_event_seq, v_event, v_payload, v_at);
  if 'pending_approval' not in (p_old.status, p_new.status) and v_event <> 'run.reassigned' then
    insert into agents.agent_run_events (
      lenser_id, team_run_id, run_id, event_type, payload, occurred_at
    )
    select t.lenser_id, t.id, p_new.id, v_event, v_payload, v_at
    from agents.team_runs as t
    where t.workflow_run_id = p_new.id;
  end if;

  if p_new.status in ('failed', 'timed_out', 'pending_approval') then
    perform lenses.fn_emit_run_event(p_new, v_at);
  end if;

  if p_old.status = 'pending_approval' and v_is_over or p_new.status = 'pending_approval' then
    perform agents.fn_follow_approval(p_new, v_at);
  end if;

  if v_is_over and p_new.schedule_id is not null then
    perform lenses.fn_record_schedule_result(p_new.schedule_id, p_new.metadata -> 'result', v_at);
  end if;
end;
$$;
