-- A schedule's approval is lowered by its owner, through the RPCs, or by a role with the table owner's
-- rights; the trigger's WHEN clause lets the RPCs pass. Anyone else, service_role above all, may
-- raise it: no requirement and no gate may go.
create or replace function lenses.tg_workflow_schedules_approval()
returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  if (
    coalesce((new.approval_policy ->> 'requiresApproval')::boolean, true)
    or not coalesce((old.approval_policy ->> 'requiresApproval')::boolean, true)
  )
    and coalesce(new.approval_policy -> 'gates', '[]') @> coalesce(old.approval_policy -> 'gates', '[]')
    and (old.workflow_assignment_id is null or new.workflow_assignment_id = old.workflow_assignment_id)
    or pg_has_role(current_user, (select c.relowner from pg_class as c where c.oid = tg_relid), 'usage')
  then
    return new;
  end if;
  raise exception using
    errcode = '42501',
    message = format('only its owner lowers the approval of schedule "%s"', old.id),
    hint = 'The owner does it with fn_patch_workflow_schedule.';
end;
$$;
