-- owner: lf_sql_engine
-- What a transition of a run leaves: exactly one event with the run's next number, the team run's part,
-- and, where the run is over, its schedule's last result; a schedule whose slot waits for a run to
-- end is looked at again at once. tg_argv[0] says who changed the run: what the engine does happens at
-- the time it wrote into the row (the tick's own clock), everything else now.
create or replace function lenses.tg_workflow_runs_follow()
returns trigger
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
set timezone = 'UTC'
as $$
declare
  v_is_over constant boolean := new.status in ('completed', 'failed', 'cancelled', 'timed_out');
  v_is_engine constant boolean := tg_argv[0] = 'engine';
  v_why constant jsonb := case
    when v_is_over and new.status <> 'completed' then new.metadata -> 'result'
    when old.status = 'running' and new.status = 'pending' and v_is_engine
      then new.metadata -> 'last_failure' end;
  v_at constant timestamptz := coalesce(case
    when not v_is_engine then null
    when v_is_over then new.completed_at
    when new.status = 'running' then new.started_at
    else (v_why ->> 'at')::timestamptz end, now());
begin
  insert into lenses.workflow_run_events (
    lenser_id, run_id, seq, event_type, payload, occurred_at
  )
  values (
    new.lenser_id, new.id, new.last_event_seq,
    case
      when v_is_over then 'run.' || new.status
      when new.status = 'running' then 'run.started'
      when new.status = 'pending_approval' then 'run.approval_requested'
      when old.status = 'pending_approval' then 'run.approved'
      when (new.ai_lenser_id, new.team_id) is distinct from (old.ai_lenser_id, old.team_id)
        then 'run.reassigned'
      else 'run.retried'
    end,
    jsonb_strip_nulls(jsonb_build_object(
      'from', old.status, 'status', new.status,
      'attempt', case when old.status = 'running' then old.attempt else new.attempt end,
      'worker_id', case when new.status = 'running' or old.status = 'running'
        then coalesce(new.worker_id, old.worker_id) end,
      'cause', v_why ->> 'cause', 'error', left(v_why ->> 'error', 2000),
      'available_at', case when new.status = 'pending' then new.available_at end)),
    v_at);

  if old.status = 'pending_approval' and v_is_over or new.status = 'pending_approval' then
    perform agents.fn_follow_approval(new, v_at);
  end if;

  if v_is_over and new.schedule_id is not null then
    perform lenses.fn_tell_schedule(new.schedule_id, new.metadata -> 'result', v_at);
  end if;
  return null;
end
$$;
