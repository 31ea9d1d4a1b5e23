-- The gates and the requirement of an assignment apply to every schedule that uses it, and to its
-- workflow's runs without a schedule. So a role without the table owner's rights, service_role
-- above all, may raise them but not lower them, and may not move the assignment to another
-- workflow.
create or replace function agents.tg_workflow_assignments_approval()
returns trigger
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
begin
  if new.workflow_id is not distinct from old.workflow_id and (
    coalesce((new.approval_policy ->> 'requiresApproval')::boolean, true)
    or not coalesce((old.approval_policy ->> 'requiresApproval')::boolean, true)
  )
    and coalesce(new.approval_policy -> 'gates', '[]')
      @> coalesce(old.approval_policy -> 'gates', '[]')
    or pg_has_role(
      current_user, (select c.relowner from pg_class as c where c.oid = tg_relid), 'usage')
  then
    return new;
  end if;
  raise exception using
    errcode = '42501',
    message = format('the approval of workflow assignment "%s" may be raised, not lowered', old.id),
    hint = 'Make a new assignment and let the owner choose it for the schedule.';
end;
$$;
