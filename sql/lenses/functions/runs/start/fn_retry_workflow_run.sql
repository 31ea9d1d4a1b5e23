-- owner: lf_sql_engine
-- For service_role, and by public.fn_retry_workflow_run for the owner. Locks as the dispatcher
-- does: schedule, the agent's limit, run. Only this leads a run out of its end, so it numbers its
-- event itself, which the table's guard sees and lets pass. The attempts count on, so that a late
-- answer to an earlier one is refused; retry_policy counts from metadata.attempts_before. Today's
-- cap applies to what the run may spend.
create or replace function lenses.fn_retry_workflow_run(p_run_id uuid)
returns lenses.workflow_runs
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_run lenses.workflow_runs;
  v_new lenses.workflow_runs;
  v_budget record;
  v_needs_approval boolean;
  v_attempt integer;
begin
  select r.* into v_run from lenses.workflow_runs as r where r.id = p_run_id;
  perform lenses.fn_lock_retry(v_run);
  v_run := lenses.fn_lock_run(p_run_id);
  if v_run.id is null then
    perform lenses.fn_refuse_run();
  end if;
  perform lensers.fn_require_here(v_run.lenser_id);
  select b.* into v_budget
  from lenses.fn_budgets(array[coalesce(v_run.ai_lenser_id, v_run.team_id)], now()) as b;
  perform lenses.fn_check_retry(
    v_run, v_budget.is_overspent, v_budget.battles_left, v_budget.spending_limit_credits);
  perform lenses.fn_check_waiting_runs(v_run.lenser_id, 1, false);

  v_needs_approval := v_run.needs_approval or lenses.fn_run_needs_approval(
    v_run.workflow_id, v_run.workflow_version, v_run.schedule_id,
    v_run.policies -> 'approval_policy');
  v_attempt := greatest(v_run.attempt, case
    when jsonb_typeof(v_run.metadata #> '{fallback_from,attempt}') = 'number'
      then (v_run.metadata #>> '{fallback_from,attempt}')::integer end);

  delete from lenses.run_retries as q
  where q.lenser_id = v_run.lenser_id and q.retried_at < now() - interval '48 hours';
  insert into lenses.run_retries (
    run_id, attempt, lenser_id, ai_lenser_id, spent_credits, retried_at
  )
  values (
    v_run.id, v_attempt, v_run.lenser_id, v_run.ai_lenser_id, v_run.spent_credits, now()
  )
  on conflict do nothing;
  insert into agents.action_logs (lenser_id, schedule_id, action_type, payload)
  values (v_run.lenser_id, v_run.schedule_id, 'run_retried', jsonb_build_object(
    'run_id', v_run.id, 'from', v_run.status, 'attempt', v_run.attempt,
    'retried_by', lensers.get_auth_lenser_id(), 'session_user', session_user,
    'role', coalesce(nullif(current_setting('role', true), 'none'), session_user)));

  update lenses.workflow_runs as r
  set status = case when v_needs_approval then 'pending_approval' else 'pending' end,
    needs_approval = v_needs_approval, approval_expires_at = case when v_needs_approval then now()
      + (r.policies #>> '{approval_policy,expiresAfterMs}')::numeric::bigint
        * interval '1 millisecond' end,
    attempt = v_attempt, worker_id = null, available_at = null, completed_at = null,
    policies = r.policies || jsonb_build_object('limits', jsonb_strip_nulls(
      jsonb_build_object('spending_limit_credits', v_budget.spending_limit_credits))),
    metadata = r.metadata - 'result' || jsonb_build_object('attempts_before', v_attempt),
    last_event_seq = r.last_event_seq + 1
  where r.id = v_run.id
  returning r.* into v_new;
  perform lenses.fn_follow_run(v_run, v_new, true);
  if v_new.status = 'pending' then
    perform lenses.fn_notify_executors();
  end if;
  return v_new;
end;
$$;

comment on function lenses.fn_retry_workflow_run(uuid) is
  'Starts a run that failed, timed out or was cancelled once more, under its own id and with its '
  'own inputs and version, and returns it: pending, or pending_approval where approval is '
  'required, even if it was approved before. attempt goes on counting; retry_policy starts '
  'again. 22023: the run is in flight or completed, its workflow is not active '
  '(workflow_not_active) or has a cycle (cycle_detected), its assignee is gone '
  '(assignee_missing) or over budget (budget_exceeded); 53400: max_pending_runs_per_lenser; '
  '42501: unknown.';
