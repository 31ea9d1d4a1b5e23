-- owner: lf_sql_engine
-- What a schedule's condition sees: the result of the workflow's newest run, by any trigger, its counts
-- of the last 24 hours, and the operator's signal.
create or replace function lenses.fn_build_schedule_condition_context(
  p_schedule_id uuid,
  p_now timestamptz default now()
)
returns jsonb
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
select jsonb_build_object(
  'prior_run_result', (
    select r.metadata -> 'result'
    from lenses.workflow_runs as r
    where r.workflow_id = s.workflow_id and r.lenser_id = s.lenser_id
    order by r.created_at desc, r.scheduled_for desc nulls last, r.id desc
    limit 1
  ),
  'last_24h_stats', (
    select jsonb_build_object(
      'succeeded', count(*) filter (where r.status = 'completed'),
      'failed', count(*) filter (where r.status = 'failed'),
      'total', count(*))
    from lenses.workflow_runs as r
    where r.workflow_id = s.workflow_id and r.lenser_id = s.lenser_id
      and r.created_at > p_now - interval '24 hours' and r.created_at <= p_now
  ),
  'signal_rpc_result', lenses.fn_condition_signal(s.id))
from lenses.workflow_schedules as s
where s.id = p_schedule_id
$$;

comment on function lenses.fn_build_schedule_condition_context(uuid, timestamptz) is 'Context of a schedule''s pre-dispatch condition at p_now: {"prior_run_result","last_24h_stats":{"succeeded","failed","total"},"signal_rpc_result"}. NULL for an unknown schedule.';
