-- owner: lf_sql_engine
-- Checks where a schedule points: the pinned version, the assignee, the fallback, the assignment
-- and the calendar must exist and belong to the schedule's tenant (a calendar may be a seed). It
-- looks up only what changed. Raises 22023; what belongs to another tenant looks as if it did not
-- exist.
create or replace function lenses.fn_check_schedule_links(
  p_new lenses.workflow_schedules,
  p_old lenses.workflow_schedules
)
returns void
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_fallback text := p_new.failure_policy ->> 'fallbackAssigneeId';
begin
  if (p_new.workflow_id, p_new.workflow_version)
      is distinct from (p_old.workflow_id, p_old.workflow_version)
    and p_new.workflow_version is not null
    and not exists (
      select from lenses.workflow_versions as v
      where v.workflow_id = p_new.workflow_id and v.version = p_new.workflow_version
    ) then
    raise exception using
      errcode = '22023',
      column = 'workflow_version',
      message = format('workflow version %s does not exist', p_new.workflow_version),
      hint = 'Give a version the workflow had, or NULL for the newest.';
  end if;
  if p_new.assignee_type not in ('agent', 'team') or p_new.assignee_type is null then
    raise exception using
      errcode = '22023',
      column = 'assignee_type',
      message = format('assignee_type "%s" is not known', coalesce(p_new.assignee_type, 'NULL')),
      hint = 'Use agent or team.';
  end if;
  if p_new.assignee_id is not null
    and (p_new.assignee_id, p_new.assignee_type, p_new.lenser_id)
      is distinct from (p_old.assignee_id, p_old.assignee_type, p_old.lenser_id)
    and not lenses.fn_has_assignee(p_new.lenser_id, p_new.assignee_type, p_new.assignee_id) then
    raise exception using
      errcode = '22023',
      column = 'assignee_id',
      message = format('assignee %s does not exist', p_new.assignee_id),
      hint = format('Give the id of one of the tenant''s own %ss, or NULL.',
        p_new.assignee_type);
  end if;
  if v_fallback is not null and p_new.failure_policy is distinct from p_old.failure_policy
    and not lenses.fn_has_assignee(p_new.lenser_id, null, v_fallback::uuid) then
    raise exception using
      errcode = '22023',
      column = 'failure_policy.fallbackAssigneeId',
      message = format('fallbackAssigneeId %s does not exist', v_fallback),
      hint = 'Give the id of one of the tenant''s own agents or teams.';
  end if;
  if (p_new.workflow_id, p_new.workflow_assignment_id)
      is distinct from (p_old.workflow_id, p_old.workflow_assignment_id)
    and p_new.workflow_assignment_id is not null
    and not exists (
      select from agents.workflow_assignments as a
      where a.id = p_new.workflow_assignment_id and a.lenser_id = p_new.lenser_id
        and a.workflow_id = p_new.workflow_id
    ) then
    raise exception using
      errcode = '22023',
      column = 'workflow_assignment_id',
      message = format('workflow assignment %s does not exist', p_new.workflow_assignment_id),
      hint = 'Give an assignment of the same workflow, or NULL.';
  end if;
  if p_new.calendar_id is distinct from p_old.calendar_id and p_new.calendar_id is not null
    and not exists (
      select from lenses.schedule_calendars as c
      where c.id = p_new.calendar_id and (c.lenser_id = p_new.lenser_id or c.is_seed)
    ) then
    raise exception using
      errcode = '22023',
      column = 'calendar_id',
      message = format('calendar %s does not exist', p_new.calendar_id),
      hint = 'Give a calendar of the tenant''s own or one of the seeds, or NULL for none.';
  end if;
end;
$$;
