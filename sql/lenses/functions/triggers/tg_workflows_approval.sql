-- Deleting a workflow deletes its schedules, and with them what they require of its other runs. So
-- only its owner, or a role with the table owner's rights, may delete a workflow that requires an
-- approval or has a gate. Anyone else, service_role above all, is refused.
create or replace function lenses.tg_workflows_approval()
returns trigger
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
begin
  if not pg_has_role(
    current_user, (select c.relowner from pg_class as c where c.oid = tg_relid), 'usage')
    and (
      exists (
        select from lenses.workflow_schedules as s
        where s.workflow_id = old.id
          and lenses.fn_demands_approval(s.approval_policy, s.workflow_assignment_id)
      )
      or exists (
        select from agents.workflow_assignments as a
        where a.workflow_id = old.id and lenses.fn_demands_approval(a.approval_policy, null)
      )
    )
  then
    raise exception using
      errcode = '42501',
      message = format('only its owner deletes workflow "%s", which requires approval', old.id),
      hint = 'To stop its schedules, pause them or set is_active to false.';
  end if;
  return new;
end;
$$;
