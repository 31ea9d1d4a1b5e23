-- owner: lf_sql_engine
-- For executors (service_role): the attempt has failed; policies decide what follows.
create or replace function lenses.fn_fail_workflow_run(
  p_run_id uuid,
  p_worker_id text,
  p_cause text,
  p_error text,
  p_spent_credits numeric default 0,
  p_attempt integer default null,
  p_retry_after interval default null,
  p_final boolean default false
)
returns boolean
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
set timezone = 'UTC'
as $$
declare
  v_run lenses.workflow_runs;
begin
  if p_cause is null or p_cause !~ '[^[:space:]]' or char_length(p_cause) > 200 then
    raise exception using
      errcode = '22023',
      column = 'cause',
      message = format(
        'p_cause must be 1 to 200 characters, not %s',
        coalesce('"' || left(p_cause, 60) || '"', 'NULL')
      ),
      hint = 'timeout, provider_error, rate_limit, contract_violated, or a cause of your own.';
  end if;
  if p_spent_credits < 0 or round(p_spent_credits, 4) >= 100000000000000 then
    raise exception using
      errcode = '22023',
      column = 'spent_credits',
      message = format('p_spent_credits must be 0 or more, and finite, not %s', p_spent_credits),
      hint = 'Give what this attempt has spent.';
  end if;
  perform lenses.fn_check_retry_after(p_retry_after);
  v_run := lenses.fn_lock_run(p_run_id);
  if v_run.status is distinct from 'running' or v_run.worker_id is distinct from p_worker_id
    or v_run.lease_expires_at <= now() or v_run.attempt <> coalesce(p_attempt, v_run.attempt)
  then
    return false;
  end if;
  if p_spent_credits > 0 then
    update lenses.workflow_runs as r set spent_credits = r.spent_credits + p_spent_credits
    where r.id = p_run_id
    returning r.spent_credits into v_run.spent_credits;
  end if;
  perform lenses.fn_fail_attempt(
    v_run, p_cause, p_error, 'failed', now(), now() + p_retry_after - now(), p_final is not true);
  return true;
end;
$$;

comment on function lenses.fn_fail_workflow_run(
  uuid, text, text, text, numeric, integer, interval, boolean
) is
  'The attempt of a run that p_worker_id holds has failed with p_cause (timeout, provider_error, '
  'rate_limit, contract_violated or another) and p_error (10,000 characters are kept); '
  'p_spent_credits is added to what the run has spent, whatever becomes of it. retry_policy '
  'makes it pending again after a while, no sooner than p_retry_after (a day at most; NULL: when '
  'the policy says), never after budget_exceeded or where p_final is true, since another attempt '
  'makes no sense; else it is failed, with {"status","cause","error"} as result, and '
  'failure_policy follows: halt pauses the schedule, fallback gives the run to the other '
  'assignee once. False, and nothing changed, where the lease is lost or the run is over. '
  'p_attempt, from the claim, is a fence: where the run is at another attempt the result is '
  'false too; NULL is the one that p_worker_id holds now. 22023: a cause, credits or pause that '
  'make no sense.';
