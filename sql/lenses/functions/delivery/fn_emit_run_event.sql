-- owner: lf_sql_engine
-- The event that a run's new status is, if it is one: run.failed, run.timed_out, approval.waiting.
create or replace function lenses.fn_emit_run_event(p_run lenses.workflow_runs, p_at timestamptz)
returns void
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
set timezone = 'UTC'
as $$
declare
  c_type constant text := case p_run.status
    when 'failed' then 'run.failed'
    when 'timed_out' then 'run.timed_out'
    when 'pending_approval' then 'approval.waiting' end;
begin
  if c_type is null or not lenses.fn_wants_event(c_type) then
    return;
  end if;
  perform lenses.fn_emit_events(c_type, jsonb_build_array(jsonb_build_object(
    'lenser_id', p_run.lenser_id, 'workflow_id', p_run.workflow_id,
    'schedule_id', p_run.schedule_id, 'run_id', p_run.id,
    'data', jsonb_strip_nulls(jsonb_build_object(
      'scheduled_for', p_run.scheduled_for, 'trigger_mode', p_run.trigger_mode,
      'attempt', p_run.attempt,
      'approval_expires_at', case c_type
        when 'approval.waiting' then p_run.approval_expires_at end,
      'cause', case when c_type <> 'approval.waiting'
        then left(p_run.metadata #>> '{result,cause}', 200) end,
      'error', case when c_type <> 'approval.waiting'
        then left(p_run.metadata #>> '{result,error}', 2000) end)))), p_at);
end;
$$;
