-- owner: lf_sql_engine
-- A try to start a run past its owner, which the caller has refused by leaving the row as it was: a
-- WARNING, a line in the server's log that a rollback leaves, and the audit. The first ten on a run
-- in a minute are rows, the rest are counted; the count is exact.
create or replace function lenses.fn_record_bypass(
  p_run lenses.workflow_runs,
  p_team_run_id uuid,
  p_attempt text
)
returns void
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_role constant text := coalesce(nullif(current_setting('role', true), 'none'), session_user);
  v_attempts bigint;
  v_payload jsonb;
begin
  insert into agents.approval_attempts as c (run_id, minute, lenser_id, last_role, last_attempt)
  values (p_run.id, date_trunc('minute', now()), p_run.lenser_id, v_role, p_attempt)
  on conflict (run_id, minute) do update
  set attempts = c.attempts + 1, last_role = excluded.last_role,
    last_attempt = excluded.last_attempt
  returning c.attempts into v_attempts;

  if v_attempts <= 10 then
    v_payload := jsonb_build_object(
      'run_id', p_run.id, 'attempt', p_attempt, 'role', v_role, 'session_user', session_user);
    insert into agents.agent_run_events (lenser_id, team_run_id, run_id, event_type, payload)
    values (p_run.lenser_id, p_team_run_id, p_run.id, 'approval_bypass_attempt', v_payload);
    insert into agents.action_logs (lenser_id, schedule_id, action_type, payload)
    values (p_run.lenser_id, p_run.schedule_id, 'approval_bypass_attempt', v_payload);
  end if;

  raise log 'approval_bypass_attempt on run % by role "%": %', p_run.id, v_role, p_attempt;
  raise warning 'run % waits for its owner''s approval: % refused', p_run.id, p_attempt
    using hint = 'The owner decides with public.fn_decide_workflow_run; this attempt is recorded.';
end;
$$;
