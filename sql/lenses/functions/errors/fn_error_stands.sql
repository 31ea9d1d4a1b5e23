-- owner: lf_sql_engine
-- Does the cause of the newest slot's failure still exist? Health and saves call this with the
-- current row. An error that only the next slot can test (a condition that raised, a dispatch that
-- failed) stands. Where the newest slot did not fail, no error stands.
create or replace function lenses.fn_error_stands(p_schedule lenses.workflow_schedules)
returns boolean
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
select case
  when p_schedule.last_dispatch_status in ('dispatch_failed', 'condition_failed') then true
  when p_schedule.last_dispatch_status = 'budget_exceeded' then exists (
    select from lenses.fn_budgets(array[a.assignee_id], now()) as b
    where b.is_overspent or b.battles_left <= 0
  )
  when p_schedule.last_dispatch_status is distinct from 'validation_failed' then false
  when p_schedule.last_error_message ~ '^assignee_missing' then
    a.assignee_id is not null
    and not lenses.fn_has_assignee(p_schedule.lenser_id, a.assignee_type, a.assignee_id)
  when p_schedule.last_error_message ~ '^version_missing' then
    p_schedule.workflow_version is not null
    and not exists (
      select from lenses.workflow_versions as v
      where v.workflow_id = p_schedule.workflow_id and v.version = p_schedule.workflow_version)
  when p_schedule.last_error_message ~ '^cycle_detected' then exists (
    select from lenses.workflow_versions as v
    where v.workflow_id = p_schedule.workflow_id and v.cycle is not null
      and v.version = coalesce(p_schedule.workflow_version, (
        select w.version from lenses.workflows as w where w.id = p_schedule.workflow_id))
  )
  when p_schedule.last_error_message ~ '^the zone is not known' then
    p_schedule.cron_expr is not null
    and not exists (select from pg_timezone_names as z where z.name = p_schedule.timezone)
  else true
end
from (
  select
    coalesce(p_schedule.assignee_id, w.assignee_id) as assignee_id,
    case when p_schedule.assignee_id is null then w.assignee_type else p_schedule.assignee_type end
      as assignee_type
  from (select) as o
  left join agents.workflow_assignments as w on w.id = p_schedule.workflow_assignment_id
) as a
$$;

comment on function lenses.fn_error_stands(lenses.workflow_schedules) is
  'Whether the error in last_dispatch_status and last_error_message still has its cause.';
