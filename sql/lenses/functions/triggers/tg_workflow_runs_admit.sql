-- owner: lf_sql_engine
-- For a run that is inserted by any role but lf_sql_engine: fills what follows from its schedule
-- and workflow, and makes a run that needs approval pending_approval, whatever status it claimed.
-- It changes the row instead of raising an error, because an error would roll back the record of
-- the attempt.
create or replace function lenses.tg_workflow_runs_admit()
returns trigger
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_schedule lenses.workflow_schedules;
  v_workflow lenses.workflows;
  v_needs boolean;
begin
  perform lenses.fn_check_run_values(new, null);
  select w.* into v_workflow from lenses.workflows as w where w.id = new.workflow_id;
  if not found then
    raise exception using
      errcode = '23503',
      column = 'workflow_id',
      message = format(
        'workflow "%s" does not exist', coalesce(new.workflow_id::text, 'NULL')
      );
  end if;
  select s.* into v_schedule from lenses.workflow_schedules as s where s.id = new.schedule_id;

  new.lenser_id := coalesce(new.lenser_id, v_workflow.lenser_id);
  new.workflow_version := coalesce(
    new.workflow_version, v_schedule.workflow_version, v_workflow.version);
  if not exists (
    select from lenses.workflow_versions as v
    where v.workflow_id = new.workflow_id and v.version = new.workflow_version
  ) then
    raise exception using
      errcode = '23503',
      column = 'workflow_version',
      message = format('workflow "%s" has no version %s', new.workflow_id, new.workflow_version),
      hint = format('Its newest is %s.', v_workflow.version);
  end if;
  if new.idempotency_key is null and new.schedule_id is not null
    and new.scheduled_for is not null then
    new.idempotency_key := lenses.fn_slot_key(new.schedule_id, new.scheduled_for);
  end if;
  -- The primary key keeps such keys apart: a run with one has the id that follows from it.
  if new.idempotency_key ~ '^[0-9a-f]{64}$' then
    new.id := substr(new.idempotency_key, 1, 32)::uuid;
  elsif new.idempotency_key ~ '^manual:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' then
    new.id := substr(new.idempotency_key, 8)::uuid;
  end if;
  new.idempotency_key := coalesce(new.idempotency_key, 'manual:' || new.id);
  new.triggered_by := coalesce(new.triggered_by, case
    when new.trigger_mode = 'schedule' then new.schedule_id else new.lenser_id end::text);
  new.global_model_id := coalesce(new.global_model_id, v_schedule.global_model_id);
  if new.ai_lenser_id is null and new.team_id is null then
    if v_schedule.assignee_type = 'team' then
      new.team_id := v_schedule.assignee_id;
    else
      new.ai_lenser_id := v_schedule.assignee_id;
    end if;
  end if;

  if jsonb_typeof(new.policies) is distinct from 'object' then
    raise exception using
      errcode = '22023',
      column = 'policies',
      message = format('policies must be an object, not %s',
        coalesce(left(new.policies::text, 60), 'NULL'));
  end if;
  new.policies := case when v_schedule.id is null then lenses.fn_default_policies()
    else lenses.fn_effective_policies(v_schedule) end || jsonb_build_object(
    'limits', coalesce((
      select jsonb_strip_nulls(
        jsonb_build_object('spending_limit_credits', b.spending_limit_credits))
      from lenses.fn_budgets(array[coalesce(new.ai_lenser_id, new.team_id)], now()) as b
    ), '{}')
  ) || new.policies;
  perform lenses.fn_check_approval_policy(new.policies -> 'approval_policy');
  perform lenses.fn_check_retry_policy(new.policies -> 'retry_policy');
  perform lenses.fn_check_failure_policy(new.policies -> 'failure_policy');
  perform lenses.fn_check_queue_policy(new.policies -> 'queue_policy');
  perform lenses.fn_check_json(new.context_inputs, 'context_inputs', 1048576, 64, 50000);
  if new.priority = 0 then
    new.priority := coalesce((new.policies #>> '{queue_policy,priority}')::numeric::integer, 0);
  end if;
  new.last_event_seq := 1;

  v_needs := lenses.fn_run_needs_approval(
    new.workflow_id, new.workflow_version, new.schedule_id, new.policies -> 'approval_policy');
  new.needs_approval := v_needs or new.needs_approval or new.status = 'pending_approval';
  if new.needs_approval then
    new.approval_expires_at := coalesce(
      new.approval_expires_at,
      now() + (new.policies #>> '{approval_policy,expiresAfterMs}')::numeric::bigint
        * interval '1 millisecond');
    if new.status <> 'pending_approval' then
      perform lenses.fn_record_bypass(
        new, agents.fn_team_run_id(new.id), format('insert as %s', left(new.status, 60)));
      new.status := 'pending_approval';
    end if;
    new.attempt := 0;
    new.worker_id := null;
    new.lease_expires_at := null;
    new.started_at := null;
    new.completed_at := null;
  else
    new.approval_expires_at := null;
  end if;
  return new;
end;
$$;
