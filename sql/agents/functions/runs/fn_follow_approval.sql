-- owner: lf_sql_engine
-- The team run of a run that is over without a decision, or waits once more: cancelled is rejected,
-- timed_out is timed_out, pending_approval is pending with no decision.
create or replace function agents.fn_follow_approval(p_run lenses.workflow_runs, p_at timestamptz)
returns void
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_status constant text := case p_run.status
    when 'pending_approval' then 'pending' when 'timed_out' then 'timed_out' else 'rejected' end;
  v_id uuid;
begin
  insert into agents.team_runs as t (
    id, lenser_id, workflow_run_id, team_id, ai_lenser_id, approval_status, decided_at, created_at
  )
  values (
    agents.fn_team_run_id(p_run.id), p_run.lenser_id, p_run.id, p_run.team_id,
    p_run.ai_lenser_id, v_status, case when v_status <> 'pending' then p_at end, p_at
  )
  on conflict (workflow_run_id, lenser_id) do update
  set approval_status = excluded.approval_status, decided_by = null,
    decided_at = excluded.decided_at, note = null
  where t.approval_status <> excluded.approval_status
  returning t.id into v_id;

  if v_id is not null then
    insert into agents.agent_run_events (
      lenser_id, team_run_id, run_id, event_type, payload, occurred_at
    )
    values (
      p_run.lenser_id, v_id, p_run.id,
      'approval.' || case v_status when 'pending' then 'requested' else v_status end,
      jsonb_build_object('run_status', p_run.status), p_at
    );
  end if;
end;
$$;
