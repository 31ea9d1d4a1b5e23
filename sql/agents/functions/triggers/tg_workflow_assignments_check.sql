-- owner: lf_sql_engine
-- Validates an assignment's row, whatever path it comes by: takes the tenant from the workflow,
-- requires the assignee and the fallback to be the tenant's own, checks the form of the four
-- policies and fills their defaults. It looks up only what has changed.
create or replace function agents.tg_workflow_assignments_check()
returns trigger
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_old agents.workflow_assignments;
begin
  if lensers.fn_is_departed(new.lenser_id) then
    return new;
  end if;
  if tg_op = 'UPDATE' then
    v_old := old;
    if new is distinct from old and new.updated_at = old.updated_at then
      new.updated_at := now();
    end if;
  end if;
  if new.lenser_id is null then
    select w.lenser_id into new.lenser_id from lenses.workflows as w where w.id = new.workflow_id;
  end if;
  if new.workflow_id <> v_old.workflow_id and exists (
    select from lenses.workflow_schedules as s where s.workflow_assignment_id = new.id
  ) then
    raise exception using
      errcode = '22023',
      column = 'workflow_id',
      message = format('assignment %s cannot go to another workflow: schedules use it', new.id),
      hint = 'Create another assignment for that workflow.';
  end if;
  if new.assignee_type is null or new.assignee_type not in ('agent', 'team') then
    raise exception using
      errcode = '22023',
      column = 'assignee_type',
      message = format(
        'assignee_type is not known: %s',
        coalesce('"' || left(new.assignee_type, 60) || '"', 'NULL')
      ),
      hint = 'Use agent or team.';
  end if;
  if (new.assignee_type, new.assignee_id) is distinct from (v_old.assignee_type, v_old.assignee_id)
    and not lenses.fn_has_assignee(new.lenser_id, new.assignee_type, new.assignee_id)
  then
    raise exception using
      errcode = '22023',
      column = 'assignee_id',
      message = format('assignee %s does not exist', coalesce(new.assignee_id::text, 'NULL')),
      hint = format('Give the id of one of the tenant''s own %ss.', new.assignee_type);
  end if;
  new.explicit_defaults := lenses.fn_explicit_defaults(
    jsonb_build_object(
      'approval_policy', new.approval_policy, 'retry_policy', new.retry_policy,
      'failure_policy', new.failure_policy, 'queue_policy', new.queue_policy),
    new.explicit_defaults,
    jsonb_build_object(
      'approval_policy', v_old.approval_policy, 'retry_policy', v_old.retry_policy,
      'failure_policy', v_old.failure_policy, 'queue_policy', v_old.queue_policy),
    v_old.explicit_defaults);
  new.approval_policy := coalesce(
    new.approval_policy, lenses.fn_default_policies() -> 'approval_policy');
  new.retry_policy := coalesce(new.retry_policy, lenses.fn_default_policies() -> 'retry_policy');
  new.failure_policy := coalesce(
    new.failure_policy, lenses.fn_default_policies() -> 'failure_policy');
  new.queue_policy := coalesce(new.queue_policy, lenses.fn_default_policies() -> 'queue_policy');
  if lenses.fn_is_changed(new.approval_policy, v_old.approval_policy) then
    perform lenses.fn_check_approval_policy(new.approval_policy);
  end if;
  if lenses.fn_is_changed(new.retry_policy, v_old.retry_policy) then
    perform lenses.fn_check_retry_policy(new.retry_policy);
  end if;
  if lenses.fn_is_changed(new.failure_policy, v_old.failure_policy) then
    perform lenses.fn_check_failure_policy(new.failure_policy);
    if not lenses.fn_has_assignee(
      new.lenser_id, null, (new.failure_policy ->> 'fallbackAssigneeId')::uuid
    ) and new.failure_policy ? 'fallbackAssigneeId' then
      raise exception using
        errcode = '22023',
        column = 'failure_policy.fallbackAssigneeId',
        message = format(
          'fallbackAssigneeId %s does not exist', new.failure_policy ->> 'fallbackAssigneeId'
        ),
        hint = 'Give the id of one of the tenant''s own agents or teams.';
    end if;
  end if;
  if lenses.fn_is_changed(new.queue_policy, v_old.queue_policy) then
    perform lenses.fn_check_queue_policy(new.queue_policy);
  end if;
  return new;
end;
$$;

comment on function agents.tg_workflow_assignments_check() is
  'Fills lenser_id of an assignment from its workflow; 22023 for an assignee that is not the '
  'tenant''s or a bad policy.';
