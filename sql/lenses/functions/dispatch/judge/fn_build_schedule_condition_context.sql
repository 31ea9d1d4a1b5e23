-- owner: lf_sql_engine
-- What a schedule's condition sees: that of its workflow, and the operator's signal.
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
select lenses.fn_condition_context(s.lenser_id, s.workflow_id, p_now)
  || jsonb_build_object('signal_rpc_result', lenses.fn_condition_signal(s.id))
from lenses.workflow_schedules as s
where s.id = p_schedule_id
$$;

comment on function lenses.fn_build_schedule_condition_context(uuid, timestamptz) is
  'Context of a schedule''s pre-dispatch condition at p_now: '
  '{"prior_run_result","last_24h_stats":{"succeeded","failed","total"},"signal_rpc_result"}. NULL '
  'for an unknown schedule.';
