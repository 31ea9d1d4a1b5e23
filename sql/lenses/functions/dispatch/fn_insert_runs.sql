-- owner: lf_sql_engine
-- Inserts the runs of judged slots (those with decision dispatch) and returns them. Insert-only: a slot
-- whose run is there already is left alone and not returned. Events and team runs follow by the
-- table's trigger. p_triggered_by NULL: the schedule's id. The newest run wakes waiting executors.
create or replace function lenses.fn_insert_runs(
  p_decisions lenses.slot_decision[],
  p_now timestamptz,
  p_trigger_mode text,
  p_triggered_by text default null
)
returns setof lenses.workflow_runs
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  return query
  insert into lenses.workflow_runs (
    id, lenser_id, workflow_id, workflow_version, schedule_id, scheduled_for, idempotency_key,
    trigger_mode, triggered_by, status, priority, available_at, context_inputs, policies,
    global_model_id, ai_lenser_id, team_id, needs_approval, approval_expires_at, metadata,
    created_at
  )
  select
    d.run_id,
    s.lenser_id,
    s.workflow_id,
    d.workflow_version,
    s.id,
    d.slot,
    d.idempotency_key,
    p_trigger_mode,
    coalesce(p_triggered_by, s.id::text),
    case when d.needs_approval then 'pending_approval' else 'pending' end,
    coalesce((s.queue_policy ->> 'priority')::integer, 0),
    d.available_at,
    d.inputs,
    jsonb_build_object(
      'approval_policy', s.approval_policy, 'retry_policy', s.retry_policy,
      'failure_policy', s.failure_policy, 'queue_policy', s.queue_policy, 'limits', d.limits),
    s.global_model_id,
    d.ai_lenser_id,
    d.team_id,
    d.needs_approval,
    case when d.needs_approval then p_now
      + (s.approval_policy ->> 'expiresAfterMs')::bigint * interval '1 millisecond' end,
    case when d.is_missed then '{"missed": true}'::jsonb else '{}' end,
    p_now
  from unnest(p_decisions) as d
  inner join lenses.workflow_schedules as s on s.id = d.schedule_id
  where d.decision = 'dispatch'
  order by d.slot, d.schedule_id
  on conflict do nothing
  returning *;
  if found then
    perform lenses.fn_notify_executors();
  end if;
end
$$;
