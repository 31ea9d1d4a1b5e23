-- For the owner. It never uses up a slot: the run has a key of its own, and counts for the overlap
-- of slots.
create or replace function public.fn_run_workflow_schedule_now(
  p_schedule_id uuid,
  p_inputs jsonb default null
)
returns lenses.workflow_runs
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform lensers.fn_hold_lenser();
  perform lenses.fn_require_schedule(p_schedule_id);
  return lenses.fn_run_schedule(p_schedule_id, p_inputs);
end;
$$;

comment on function public.fn_run_workflow_schedule_now(uuid, jsonb) is
  'Starts a run of the caller''s schedule at once, paused or not, with p_inputs (at most 256 KB; '
  'NULL: what the next slot would use, rotation included). Returns the run: pending, or '
  'pending_approval where approval is needed; scheduled_for is NULL. 22023: the workflow is not '
  'active (workflow_not_active) or has a cycle (cycle_detected), the assignee is gone '
  '(assignee_missing) or over budget (budget_exceeded), or bad p_inputs; 53400: '
  'max_pending_runs_per_lenser; 42501: not the caller''s, or unknown.';
