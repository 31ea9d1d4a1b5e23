-- owner: lf_sql_engine
-- What the conditions of a workflow's schedules have in common: the result of its newest run, by
-- any trigger, and its counts of the last 24 hours. Asked once a workflow and batch.
create or replace function lenses.fn_condition_context(
  p_lenser_id uuid,
  p_workflow_id uuid,
  p_now timestamptz
)
returns jsonb
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set plan_cache_mode = force_generic_plan
as $$
begin
  return jsonb_build_object(
    'prior_run_result', (
      select lenses.fn_prior_result(r.status, r.metadata -> 'result')
      from lenses.workflow_runs as r
      where r.workflow_id = p_workflow_id and r.lenser_id = p_lenser_id
      order by r.created_at desc, r.scheduled_for desc nulls last, r.id desc
      limit 1),
    'last_24h_stats', lenses.fn_run_stats(p_lenser_id, p_workflow_id, p_now));
end;
$$;
