-- owner: lf_sql_engine
-- For executors (service_role): the run is done. Locks the schedule before the run, as all code
-- that ends runs does. This is half of an executor's traffic, so it numbers and writes the event
-- itself, which the table's triggers see and let pass, and updates the schedule. Here as elsewhere,
-- appending an empty text to the status keeps the planner from using the indexes of all running
-- runs.
create or replace function lenses.fn_complete_workflow_run(
  p_run_id uuid,
  p_worker_id text,
  p_result jsonb,
  p_spent_credits numeric default 0,
  p_attempt integer default null
)
returns boolean
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
set plan_cache_mode = force_generic_plan
as $$
declare
  v_lenser_id uuid;
  v_schedule_id uuid;
  v_seq integer;
  v_attempt integer;
  v_waiting_id uuid;
  v_payload jsonb;
begin
  -- 40 bytes pass no limit. How large the value is stored says nothing of a number's digits.
  if pg_column_size(p_result) > 40 or octet_length(p_result::text) > 40 then
    perform lenses.fn_check_json(p_result, 'p_result', 1048576, 64, 50000);
  end if;
  if p_spent_credits < 0 or round(p_spent_credits, 4) >= 100000000000000 then
    raise exception using
      errcode = '22023',
      column = 'spent_credits',
      message = format('p_spent_credits must be 0 or more, and finite, not %s', p_spent_credits),
      hint = 'Give what this attempt has spent.';
  end if;

  perform from lenses.workflow_schedules as s
  where s.id = (select r.schedule_id from lenses.workflow_runs as r where r.id = p_run_id)
  for no key update;

  update lenses.workflow_runs as r
  set status = 'completed', completed_at = now(), lease_expires_at = null,
    spent_credits = r.spent_credits + coalesce(p_spent_credits, 0),
    metadata = r.metadata || jsonb_build_object('result', p_result),
    last_event_seq = r.last_event_seq + 1
  where r.id = p_run_id and r.status || '' = 'running' and r.worker_id = p_worker_id
    and r.lease_expires_at > now() and r.attempt = coalesce(p_attempt, r.attempt)
  returning r.lenser_id, r.schedule_id, r.last_event_seq, r.attempt
  into v_lenser_id, v_schedule_id, v_seq, v_attempt;
  if not found then
    return false;
  end if;

  v_payload := jsonb_build_object(
    'from', 'running', 'status', 'completed', 'attempt', v_attempt, 'worker_id', p_worker_id);
  insert into lenses.workflow_run_events (lenser_id, run_id, seq, event_type, payload)
  values (v_lenser_id, p_run_id, v_seq, 'run.completed', v_payload);
  insert into agents.agent_run_events (lenser_id, team_run_id, run_id, event_type, payload)
  select t.lenser_id, t.id, p_run_id, 'run.completed', v_payload
  from agents.team_runs as t
  where t.workflow_run_id = p_run_id;

  update lenses.workflow_schedules as s
  set last_completed_at = now(), last_result = coalesce(p_result, 'null')
  where s.id = v_schedule_id
  returning case when s.is_deferred and s.is_active then s.id end into v_waiting_id;
  if v_waiting_id is not null then
    perform lenses.fn_wake_schedule(v_waiting_id, now());
  end if;
  return true;
end;
$$;

comment on function lenses.fn_complete_workflow_run(uuid, text, jsonb, numeric, integer) is
  'Completes a run that p_worker_id holds: p_result (at most 1 MB) becomes metadata.result and '
  'the schedule''s last_result, p_spent_credits is added to what the run has spent. False, and '
  'nothing changed, where the lease is lost or the run is over. p_attempt, from the claim, is a '
  'fence: where the run is at another attempt the result is false too; NULL is the one that '
  'p_worker_id holds now. 22023: a result that is too large, or credits below 0 or not finite.';
