-- owner: lf_sql_engine
-- An attempt of p_run, a running row that the caller has locked, has failed. What follows: another
-- attempt by retry_policy (except where the budget is spent), else the other assignee by
-- failure_policy (once, with all attempts, the approval still valid), else the end as p_final
-- (failed or timed_out) and, with mode halt, a paused schedule. Returns the run's new status.
create or replace function lenses.fn_fail_attempt(
  p_run lenses.workflow_runs,
  p_cause text,
  p_error text,
  p_final text,
  p_now timestamptz,
  p_retry_after interval default null,
  p_may_retry boolean default true
)
returns text
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
set timezone = 'UTC'
as $$
declare
  v_retry constant jsonb := p_run.policies -> 'retry_policy';
  v_failure constant jsonb := p_run.policies -> 'failure_policy';
  v_failed constant jsonb := jsonb_build_object('last_failure', jsonb_build_object(
    'cause', p_cause, 'error', left(p_error, 10000), 'attempt', p_run.attempt, 'at', p_now));
  -- Attempts since the run was last retried by hand; an operator may have corrected the metadata.
  v_attempt constant integer := p_run.attempt - case
    when jsonb_typeof(p_run.metadata -> 'attempts_before') = 'number'
      then least(
        greatest((p_run.metadata ->> 'attempts_before')::numeric, 0), p_run.attempt)::integer
    else 0 end;
  v_delay interval;
begin
  if p_may_retry and p_cause <> 'budget_exceeded'
    and v_attempt <= coalesce((v_retry ->> 'maxRetries')::numeric::integer, 1)
    and (coalesce(v_retry -> 'retryOn', '[]') = '[]' or v_retry -> 'retryOn' ? p_cause)
  then
    v_delay := greatest(lenses.fn_retry_delay(v_retry, v_attempt), p_retry_after);
    update lenses.workflow_runs as r
    set status = 'pending', metadata = r.metadata || v_failed,
      available_at = case when v_delay > interval '0' then p_now + v_delay end
    where r.id = p_run.id;
    perform lenses.fn_notify_executors();
    return 'pending';
  end if;

  if v_failure ->> 'mode' = 'fallback' and not p_run.metadata ? 'fallback_from'
    and lenses.fn_reassign_run(
      p_run, (v_failure ->> 'fallbackAssigneeId')::uuid, p_run.metadata || v_failed, p_now)
  then
    return 'pending';
  end if;

  update lenses.workflow_runs as r
  set status = p_final, completed_at = p_now,
    metadata = r.metadata || v_failed
      || jsonb_build_object('result', lenses.fn_run_result(p_final, p_cause, p_error))
  where r.id = p_run.id;
  if v_failure ->> 'mode' = 'halt' and p_run.schedule_id is not null then
    perform lenses.fn_halt_schedule(p_run.schedule_id, format(
      'halted: run %s %s with cause "%s"',
      p_run.id, case p_final when 'failed' then 'failed' else 'timed out' end, left(p_cause, 200)
    ), p_now);
  end if;
  return p_final;
end;
$$;
