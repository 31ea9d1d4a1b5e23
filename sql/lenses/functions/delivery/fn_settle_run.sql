-- owner: lf_sql_engine
-- Applies an answer to the run and attempt of its request. The rules are those of lf-sql runs
-- deliver: 200 with a JSON object completes the run; 202 leaves it to the endpoint until the lease
-- ends; 408, 425, 429, 5xx and no answer fail the attempt, with no other before Retry-After;
-- whatever else fails the run as contract_violated, without another attempt unless retryOn names
-- that cause. A number spent_credits in a JSON object is booked, even where the attempt has ended
-- meanwhile, and a run that passes its limit ends. Returns what went wrong, if it did.
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
  c_worker_id constant text := 'delivery:' || p_request.delivery;
  c_result constant jsonb := lenses.fn_answered_result(p_content);
  v_spent numeric := case jsonb_typeof(c_result -> 'spent_credits')
    when 'number' then (c_result -> 'spent_credits')::numeric else 0 end;
  v_run lenses.workflow_runs;
  v_total numeric;
  v_limit numeric;
  v_is_ours boolean;
  v_cause text := case
    when p_is_timed_out or p_status = 408 then 'timeout'
    when p_status in (425, 429) then 'rate_limit'
    when p_status is null or p_status >= 500 then 'provider_error'
    else 'contract_violated' end;
  v_error text := case
    when p_status is not null then format('the endpoint answered %s', p_status)
      || case when p_status = 200 then ' without a JSON object of at most 1 MB' else '' end
      || coalesce(': ' || nullif(left(regexp_replace(
        left(p_content, 1200), '[[:cntrl:][:space:]]+', ' ', 'g'), 300), ''), '')
    else coalesce(left(p_error, 1000), 'the endpoint did not answer') end;
begin
  if v_spent < 0 or round(v_spent, 4) >= 100000000000000 then
    v_spent := 0;
  end if;
  v_run := lenses.fn_lock_run(p_request.run_id);
  v_limit := (v_run.policies #>> '{limits,spending_limit_credits}')::numeric;
  v_total := v_spent
    + case when v_run.metadata ? 'fallback_from' then 0 else v_run.spent_credits end;
  if p_status = 202 then
    v_is_ours := false;
    v_error := null;
  elsif v_total > v_limit then
    v_cause := 'budget_exceeded';
    v_error := format('spent %s credits, the limit is %s', trim_scale(v_total),
      trim_scale(v_limit));
  elsif p_status = 200 and c_result is not null then
    v_is_ours := lenses.fn_complete_workflow_run(
      p_request.run_id, c_worker_id, c_result, v_spent, p_request.attempt);
    v_error := null;
  end if;
  if v_is_ours is null then
    v_is_ours := lenses.fn_fail_workflow_run(
      p_request.run_id, c_worker_id, v_cause, v_error, v_spent, p_request.attempt,
      lenses.fn_retry_after(p_headers, p_now),
      v_cause = 'contract_violated'
      and not coalesce(v_run.policies #> '{retry_policy,retryOn}' ? v_cause, false));
  end if;
  if not v_is_ours and v_spent > 0 then
    perform lenses.fn_book_run_credits(
      p_request.run_id, c_worker_id, p_request.attempt, v_spent);
  end if;
  return v_error;
end;
$$;
