-- owner: lf_sql_engine
-- Raises 22023 where a change of a run by hand changes a column that never changes, or one that its
-- status no longer allows to change. A reference to a schedule or assignee that is gone may become
-- NULL.
create or replace function lenses.fn_check_run_change(
  p_old lenses.workflow_runs,
  p_new lenses.workflow_runs
)
returns void
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_column text;
begin
  v_column := case
    when p_new.id is distinct from p_old.id then 'id'
    when p_new.lenser_id is distinct from p_old.lenser_id then 'lenser_id'
    when p_new.workflow_id is distinct from p_old.workflow_id then 'workflow_id'
    when p_new.scheduled_for is distinct from p_old.scheduled_for then 'scheduled_for'
    when p_new.idempotency_key is distinct from p_old.idempotency_key then 'idempotency_key'
    when p_new.trigger_mode is distinct from p_old.trigger_mode then 'trigger_mode'
    when p_new.triggered_by is distinct from p_old.triggered_by then 'triggered_by'
    when lenses.fn_is_changed(p_new.policies, p_old.policies) then 'policies'
    when p_new.needs_approval is distinct from p_old.needs_approval
      and p_new.status <> 'pending_approval' then 'needs_approval'
    when p_new.approval_expires_at is distinct from p_old.approval_expires_at
      then 'approval_expires_at'
    when p_new.created_at is distinct from p_old.created_at then 'created_at'
    when p_new.last_event_seq is distinct from p_old.last_event_seq then 'last_event_seq'
    when p_new.schedule_id is distinct from p_old.schedule_id and (
      p_new.schedule_id is not null
      or exists (select from lenses.workflow_schedules as s where s.id = p_old.schedule_id)
    ) then 'schedule_id'
    when p_new.ai_lenser_id is distinct from p_old.ai_lenser_id and (
      p_new.ai_lenser_id is not null
      or exists (select from agents.ai_lensers as a where a.id = p_old.ai_lenser_id)
    ) then 'ai_lenser_id'
    when p_new.team_id is distinct from p_old.team_id and (
      p_new.team_id is not null
      or exists (select from agents.teams as t where t.id = p_old.team_id)
    ) then 'team_id'
  end;
  if v_column is not null then
    raise exception using
      errcode = '22023',
      column = v_column,
      message = format('run "%s" keeps its %s', p_old.id, v_column),
      hint = 'A run carries what it was dispatched with; start a new one instead.';
  end if;

  if lenses.fn_is_changed(p_new.context_inputs, p_old.context_inputs)
    or (p_new.workflow_version, p_new.global_model_id)
    is distinct from (p_old.workflow_version, p_old.global_model_id) then
    if p_old.status not in ('pending_approval', 'pending') then
      raise exception using
        errcode = '22023',
        message = format(
          'run "%s" is %s: its inputs, version and model stay', p_old.id, p_old.status
        ),
        hint = 'They may change before the run starts.';
    end if;
    if not exists (
      select from lenses.workflow_versions as v
      where v.workflow_id = p_new.workflow_id and v.version = p_new.workflow_version
    ) then
      raise exception using
        errcode = '23503',
        column = 'workflow_version',
        message = format(
          'workflow "%s" has no version %s', p_new.workflow_id, p_new.workflow_version
        );
    end if;
    perform lenses.fn_check_json(p_new.context_inputs, 'context_inputs', 1048576, 64, 50000);
  end if;

  perform lenses.fn_check_run_values(p_new, p_old);

  if p_old.status in ('completed', 'failed', 'cancelled', 'timed_out')
    and p_new.status = p_old.status
    and (p_new.attempt, p_new.worker_id, p_new.lease_expires_at, p_new.started_at,
      p_new.completed_at, p_new.available_at, p_new.priority)
    is distinct from (p_old.attempt, p_old.worker_id, p_old.lease_expires_at, p_old.started_at,
      p_old.completed_at, p_old.available_at, p_old.priority)
  then
    raise exception using
      errcode = '22023',
      message = format('run "%s" is over: it is %s', p_old.id, p_old.status),
      hint = 'Only its metadata and spent_credits may be corrected.';
  end if;
end;
$$;
