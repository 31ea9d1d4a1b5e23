-- owner: lf_sql_engine
-- For lenses.fn_insert_runs: one statement, in the order of the slots. It looks up inputs last, row
-- by row, so that the sort holds none of them. p_looks leaves out slots that have a run; without it
-- such a slot is a unique violation. INSERT ... ON CONFLICT would look into four indexes before
-- each row.
create or replace function lenses.fn_insert_run_batch(
  p_decisions lenses.slot_decision[],
  p_now timestamptz,
  p_trigger_mode text,
  p_triggered_by text,
  p_looks boolean
)
returns integer
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_inserted integer;
begin
  insert into lenses.workflow_runs (
    id, lenser_id, workflow_id, workflow_version, schedule_id, scheduled_for, idempotency_key,
    trigger_mode, triggered_by, status, priority, available_at, context_inputs, policies,
    global_model_id, ai_lenser_id, team_id, needs_approval, approval_expires_at, metadata,
    created_at
  )
  select
    q.run_id,
    q.lenser_id,
    q.workflow_id,
    q.workflow_version,
    q.schedule_id,
    q.slot,
    q.idempotency_key,
    p_trigger_mode,
    coalesce(p_triggered_by, q.schedule_id::text),
    case when q.needs_approval then 'pending_approval' else 'pending' end,
    coalesce((q.policies #>> '{queue_policy,priority}')::numeric::integer, 0),
    q.available_at,
    coalesce(q.inputs, case when q.rotation_index is null then q.inputs_template
      else q.inputs_rotation -> q.rotation_index end),
    q.policies,
    q.global_model_id,
    q.ai_lenser_id,
    q.team_id,
    q.needs_approval,
    case when q.needs_approval then p_now
      + (q.policies #>> '{approval_policy,expiresAfterMs}')::numeric::bigint
        * interval '1 millisecond' end,
    case when q.is_missed then '{"missed": true}'::jsonb else '{}' end,
    p_now
  from (
    select
      d.run_id, d.workflow_version, d.schedule_id, d.slot, d.idempotency_key, d.needs_approval,
      d.available_at, d.inputs, d.rotation_index, d.ai_lenser_id, d.team_id, d.is_missed,
      s.lenser_id, s.workflow_id, s.global_model_id, s.inputs_template, s.inputs_rotation,
      case
        when s.workflow_assignment_id is null and x.default_queue_mode = 'parallel'
          then o.policies
        -- What is merged is the four policies alone.
        else lenses.fn_merge_policies(o.policies, s.explicit_defaults, s.workflow_assignment_id)
          || jsonb_build_object('limits', d.limits)
      end as policies
    from unnest(p_decisions) as d
    inner join lenses.workflow_schedules as s on s.id = d.schedule_id
    cross join lenses.dispatch_settings as x
    cross join lateral (
      select jsonb_build_object(
        'approval_policy', s.approval_policy, 'retry_policy', s.retry_policy,
        'failure_policy', s.failure_policy, 'queue_policy', s.queue_policy,
        'limits', d.limits) as policies
    ) as o
    where d.decision = 'dispatch'
      and not (p_looks and lenses.fn_has_run(d.run_id, d.schedule_id, d.slot))
    order by d.slot, d.schedule_id
    offset 0
  ) as q;
  get diagnostics v_inserted = row_count;
  return v_inserted;
end;
$$;
