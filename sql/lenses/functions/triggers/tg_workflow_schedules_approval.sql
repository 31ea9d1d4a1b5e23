-- Only its owner, through the RPCs, or a role with the table owner's rights may lower a schedule's
-- approval; the trigger's WHEN clause lets the RPCs pass. Anyone else, service_role above all, may
-- only raise it, and may remove no requirement and no gate. A schedule with either stays with its
-- workflow, because the workflow's other runs must satisfy it. A schedule that such a role makes,
-- or moves to another workflow, must require at least what that workflow's other schedules and
-- assignments do.
create or replace function lenses.tg_workflow_schedules_approval()
returns trigger
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  v_requires constant boolean := coalesce(
    (new.approval_policy ->> 'requiresApproval')::boolean, true);
  v_gates constant jsonb := coalesce(new.approval_policy -> 'gates', '[]');
  v_is_lower boolean := false;
begin
  if pg_has_role(
    current_user, (select c.relowner from pg_class as c where c.oid = tg_relid), 'usage') then
    return new;
  end if;
  if tg_op = 'UPDATE' then
    v_is_lower := not v_requires
      and coalesce((old.approval_policy ->> 'requiresApproval')::boolean, true)
      or not v_gates @> coalesce(old.approval_policy -> 'gates', '[]')
      or coalesce(new.workflow_assignment_id <> old.workflow_assignment_id,
        old.workflow_assignment_id is not null)
      or new.workflow_id is distinct from old.workflow_id
      and lenses.fn_demands_approval(old.approval_policy, old.workflow_assignment_id);
  end if;
  if not v_is_lower and not v_requires
    and (tg_op = 'INSERT' or new.workflow_id is distinct from old.workflow_id) then
    v_is_lower := exists (
      select
      from (
        select s.approval_policy as policy from lenses.workflow_schedules as s
        where s.workflow_id = new.workflow_id and s.id <> new.id
        union all
        select a.approval_policy from agents.workflow_assignments as a
        where a.workflow_id = new.workflow_id
      ) as d
      where coalesce((d.policy ->> 'requiresApproval')::boolean, true)
        or not v_gates @> coalesce(d.policy -> 'gates', '[]')
    );
  end if;
  if not v_is_lower then
    return new;
  end if;
  raise exception using
    errcode = '42501',
    message = format(
      'only its owner lowers the approval of schedule "%s"',
      coalesce(new.name, new.description, new.id::text)),
    hint = case tg_op when 'INSERT' then
      'Require what the workflow''s other schedules and assignments do, or let the owner make it.'
      else 'The owner does it with fn_patch_workflow_schedule, or makes another schedule.' end;
end;
$$;
