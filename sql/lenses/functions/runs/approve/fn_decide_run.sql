-- owner: lf_sql_engine
-- The owner's decision: nothing else approves a run. It determines the caller itself, so that no
-- role that may execute it can decide for another tenant. It records what was approved by its
-- digest, and who decided: the profile and the user, and the role and session that acted as that
-- user.
create or replace function lenses.fn_decide_run(p_run_id uuid, p_decision text, p_note text)
returns lenses.workflow_runs
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_run lenses.workflow_runs := lenses.fn_require_run(p_run_id);
  v_team_run_id uuid;
  v_payload jsonb;
begin
  perform lenses.fn_check_decision(p_decision, p_note);
  v_run := lenses.fn_lock_run(p_run_id);
  if v_run.status <> 'pending_approval' then
    raise exception using
      errcode = '22023',
      message = format('run "%s" does not wait for approval: it is %s', v_run.id, v_run.status),
      hint = format('A decision is made once: lf-sql runs show %s', v_run.id);
  elsif v_run.approval_expires_at <= now() then
    raise exception using
      errcode = '22023',
      message = format(
        'the approval of run "%s" expired at %s', v_run.id, v_run.approval_expires_at
      ),
      hint = 'Start a new run; approval_policy.expiresAfterMs says how long one waits.';
  end if;

  insert into agents.team_runs as t (
    id, lenser_id, workflow_run_id, team_id, ai_lenser_id, approval_status, decided_by, decided_at,
    note
  )
  values (
    agents.fn_team_run_id(v_run.id), v_run.lenser_id, v_run.id, v_run.team_id, v_run.ai_lenser_id,
    p_decision, v_run.lenser_id, now(), p_note
  )
  on conflict (workflow_run_id, lenser_id) do update
  set approval_status = excluded.approval_status, decided_by = excluded.decided_by,
    decided_at = excluded.decided_at, note = excluded.note
  returning t.id into v_team_run_id;

  v_payload := jsonb_build_object(
    'run_id', v_run.id, 'decided_by', v_run.lenser_id, 'note', p_note,
    'user_id', (select p.user_id from lensers.profiles as p where p.id = v_run.lenser_id),
    'role', coalesce(nullif(current_setting('role', true), 'none'), session_user),
    'session_user', session_user,
    'workflow_version', v_run.workflow_version,
    'inputs_sha256', encode(sha256(convert_to(v_run.context_inputs::text, 'UTF8')), 'hex'));
  insert into agents.agent_run_events (lenser_id, team_run_id, run_id, event_type, payload)
  values (v_run.lenser_id, v_team_run_id, v_run.id, 'approval.' || p_decision, v_payload);
  insert into agents.action_logs (lenser_id, schedule_id, action_type, payload)
  values (v_run.lenser_id, v_run.schedule_id, 'run_' || p_decision, v_payload);

  update lenses.workflow_runs as r
  set status = case p_decision when 'approved' then 'pending' else 'cancelled' end,
    completed_at = case p_decision when 'rejected' then now() end,
    metadata = r.metadata || case p_decision
      when 'rejected' then jsonb_build_object(
        'result', lenses.fn_run_result('cancelled', 'rejected', p_note))
      else '{}' end
  where r.id = v_run.id
  returning r.* into v_run;
  if p_decision = 'approved' then
    perform lenses.fn_notify_executors();
  end if;
  return v_run;
end;
$$;
