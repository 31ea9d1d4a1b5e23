-- For the owner of the run, and for service_role, who may retry any.
create or replace function public.fn_retry_workflow_run(p_run_id uuid)
returns lenses.workflow_runs
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  if not lenses.fn_is_operator() then
    perform lensers.fn_hold_lenser();
    perform lenses.fn_require_run(p_run_id);
  end if;
  return lenses.fn_retry_workflow_run(p_run_id);
end;
$$;

comment on function public.fn_retry_workflow_run(uuid) is
  'Starts a run of the caller (service_role: any run) that failed, timed out or was cancelled '
  'once more, under its own id and with its own inputs and version, and returns it: pending, or '
  'pending_approval where approval is required, even if it was approved before. attempt goes on '
  'counting; retry_policy starts again. 22023: the run is in flight or completed, its workflow '
  'is not active (workflow_not_active) or has a cycle (cycle_detected), its assignee is gone '
  '(assignee_missing) or over budget (budget_exceeded); 53400: a quota of runs that wait; 42501: '
  'not the caller''s, or unknown.';
