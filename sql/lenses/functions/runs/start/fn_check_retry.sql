-- owner: lf_sql_engine
-- Raises 22023 where p_run, which the caller has locked, cannot start once more: it is not over or
-- has done its work, or a guard that refuses run-now refuses it too. The budgets are those of its
-- assignee today; a battle that today's count holds already is no further one.
create or replace function lenses.fn_check_retry(
  p_run lenses.workflow_runs,
  p_is_overspent boolean,
  p_battles_left bigint,
  p_spending_limit numeric
)
returns void
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_workflow lenses.workflows;
  v_cycle text[];
  v_assignee text;
  v_reason text;
begin
  if p_run.status not in ('failed', 'timed_out', 'cancelled') then
    raise exception using
      errcode = '22023',
      message = format(
        'run "%s" is %s: only one that failed, timed out or was cancelled starts once more',
        p_run.id, p_run.status
      ),
      hint = case p_run.status
        when 'completed' then 'public.fn_run_workflow_schedule_now() makes a new run.'
        when 'pending_approval' then 'Decide it with public.fn_decide_workflow_run().'
        else 'Wait for its end, or cancel it first.' end;
  end if;

  select w.* into v_workflow from lenses.workflows as w where w.id = p_run.workflow_id;
  select v.cycle into v_cycle
  from lenses.workflow_versions as v
  where v.workflow_id = p_run.workflow_id and v.version = p_run.workflow_version;
  select s.assignee_type || ' ' || s.assignee_id into v_assignee
  from lenses.workflow_schedules as s
  where s.id = p_run.schedule_id and s.assignee_id is not null
    and p_run.ai_lenser_id is null and p_run.team_id is null
    and not lenses.fn_has_assignee(s.lenser_id, s.assignee_type, s.assignee_id);
  v_reason := case
    when v_workflow.status is distinct from 'active' then 'workflow_not_active'
    when v_assignee is not null then 'assignee_missing'
    when p_is_overspent or p_run.spent_credits >= p_spending_limit
      or v_workflow.kind = 'battle' and p_battles_left <= 0
      and not (p_run.status <> 'cancelled' and lenses.fn_counts_today(p_run))
      then 'budget_exceeded'
    when v_cycle is not null then 'cycle_detected'
  end;
  if v_reason is not null then
    raise exception using
      errcode = '22023',
      message = format('run "%s" cannot start once more: %s', p_run.id, v_reason),
      detail = case v_reason
        when 'workflow_not_active' then format(
          'Workflow "%s" is %s.', p_run.workflow_id, coalesce(v_workflow.status, 'gone'))
        when 'assignee_missing' then format('The schedule''s %s is gone.', v_assignee)
        when 'budget_exceeded' then format(
          'The run has spent %s credits; the limit of its agent is %s a run and a day.',
          p_run.spent_credits, coalesce(p_spending_limit::text, 'none'))
        else array_to_string(v_cycle, ' -> ') end,
      hint = case v_reason
        when 'workflow_not_active' then 'Set the workflow to active first.'
        when 'assignee_missing' then 'Assign the schedule to an agent or team that is there.'
        when 'budget_exceeded' then 'Raise the agent''s limit, or wait for the next day (UTC).'
        else 'The run keeps its version; start a new one with a version that has no cycle.' end;
  end if;
end;
$$;
