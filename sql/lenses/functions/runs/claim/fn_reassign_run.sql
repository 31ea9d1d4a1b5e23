-- owner: lf_sql_engine
-- Gives a running run to another agent or team of the same tenant, as pending and with all its
-- attempts; an approval stays valid. False where there is no such assignee, or it has the run
-- already.
create or replace function lenses.fn_reassign_run(
  p_run lenses.workflow_runs,
  p_assignee_id uuid,
  p_metadata jsonb,
  p_now timestamptz
)
returns boolean
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_is_team constant boolean := lenses.fn_has_assignee(p_run.lenser_id, 'team', p_assignee_id);
  v_team_run_id uuid;
begin
  if p_assignee_id in (p_run.ai_lenser_id, p_run.team_id)
    or not (v_is_team or lenses.fn_has_assignee(p_run.lenser_id, 'agent', p_assignee_id)) then
    return false;
  end if;
  update lenses.workflow_runs as r
  set status = 'pending', attempt = 0, available_at = null,
    ai_lenser_id = case when not v_is_team then p_assignee_id end,
    team_id = case when v_is_team then p_assignee_id end,
    policies = r.policies || jsonb_build_object('limits', coalesce((
      select jsonb_strip_nulls(
        jsonb_build_object('spending_limit_credits', b.spending_limit_credits))
      from lenses.fn_budgets(array[p_assignee_id], p_now) as b
    ), '{}')),
    metadata = p_metadata - 'attempts_before'
      || jsonb_build_object('fallback_from', jsonb_strip_nulls(jsonb_build_object(
        'ai_lenser_id', p_run.ai_lenser_id, 'team_id', p_run.team_id, 'attempt', p_run.attempt)))
  where r.id = p_run.id;
  update lenses.run_retries as q
  set ai_lenser_id = case when not v_is_team then p_assignee_id end
  where q.run_id = p_run.id;

  insert into agents.team_runs as t (
    id, lenser_id, workflow_run_id, team_id, ai_lenser_id, approval_status, created_at
  )
  select
    agents.fn_team_run_id(r.id), r.lenser_id, r.id, r.team_id, r.ai_lenser_id, 'not_required', p_now
  from lenses.workflow_runs as r
  where r.id = p_run.id and (
    v_is_team or exists (select from agents.team_runs as o where o.workflow_run_id = r.id))
  on conflict (workflow_run_id, lenser_id) do update
  set team_id = excluded.team_id, ai_lenser_id = excluded.ai_lenser_id
  returning t.id into v_team_run_id;
  if v_team_run_id is not null then
    insert into agents.agent_run_events (
      lenser_id, team_run_id, run_id, event_type, payload, occurred_at
    )
    values (
      p_run.lenser_id, v_team_run_id, p_run.id, 'team_run.reassigned',
      jsonb_build_object('assignee_id', p_assignee_id), p_now
    );
  end if;
  perform lenses.fn_notify_executors();
  return true;
end;
$$;
