-- owner: lf_sql_engine
-- What an answer means for the run and attempt that it is about; nothing where that attempt is over.
-- 200 with a JSON object completes it; 202 leaves it to the endpoint until the lease ends; no answer,
-- 408, 425, 429 and 5xx fail the attempt, and policy decides about another, no sooner than
-- Retry-After; anything else fails the run without one.
create or replace function lenses.fn_settle_run(
  p_request lenses.delivery_requests,
  p_status integer,
  p_headers jsonb,
  p_content text,
  p_is_timed_out boolean,
  p_error text,
  p_now timestamptz
)
returns text
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_result constant jsonb := case p_status when 200 then lenses.fn_answered_result(p_content) end;
  v_cause constant text := case
    when p_is_timed_out or p_status = 408 then 'timeout'
    when p_status in (425, 429) then 'rate_limit'
    when p_status is null or p_status >= 500 then 'provider_error'
    else 'contract_violated' end;
  v_error constant text := case
    when p_status = 200 then 'the endpoint answered 200 without a JSON object of at most 1 MB'
    when p_status is not null then format('the endpoint answered %s', p_status)
    else coalesce(left(p_error, 1000), 'the endpoint did not answer') end;
  v_run lenses.workflow_runs;
begin
  if p_status = 202 then
    return null;
  elsif v_result is not null then
    perform lenses.fn_complete_workflow_run(
      p_request.run_id, 'delivery:' || p_request.delivery, v_result, 0, p_request.attempt);
    return null;
  end if;
  v_run := lenses.fn_lock_run(p_request.run_id);
  if v_run.status is distinct from 'running' or v_run.attempt <> p_request.attempt
    or v_run.worker_id <> 'delivery:' || p_request.delivery or v_run.lease_expires_at <= now()
  then
    return v_error;
  end if;
  if v_cause = 'contract_violated' then
    v_run.policies := v_run.policies || '{"retry_policy": {"maxRetries": 0}}';
  end if;
  perform lenses.fn_fail_attempt(v_run, v_cause, v_error, 'failed', p_now);
  update lenses.workflow_runs as r
  set available_at = greatest(r.available_at, p_now + lenses.fn_retry_after(p_headers, p_now))
  where r.id = v_run.id and r.status = 'pending'
    and lenses.fn_retry_after(p_headers, p_now) > interval '0';
  return v_error;
end
$$;
