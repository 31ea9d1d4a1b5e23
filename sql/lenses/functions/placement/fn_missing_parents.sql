-- owner: lf_sql_engine
-- What points at rows that are gone, which only writes past the foreign keys can bring about.
-- p_lenser_id narrows it to one tenant.
create or replace function lenses.fn_missing_parents(p_lenser_id uuid default null)
returns table (resource text, id uuid, detail text)
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
select 'schedule', s.id, 'workflow ' || s.workflow_id || ' is gone'
from lenses.workflow_schedules as s
left join lenses.workflows as w on w.id = s.workflow_id
where w.id is null and (p_lenser_id is null or s.lenser_id = p_lenser_id)
union all
select 'schedule', s.id, 'calendar ' || s.calendar_id || ' is gone'
from lenses.workflow_schedules as s
left join lenses.schedule_calendars as c on c.id = s.calendar_id
where s.calendar_id is not null and c.id is null
  and (p_lenser_id is null or s.lenser_id = p_lenser_id)
union all
select 'schedule', s.id, 'workflow assignment ' || s.workflow_assignment_id || ' is gone'
from lenses.workflow_schedules as s
left join agents.workflow_assignments as a on a.id = s.workflow_assignment_id
where s.workflow_assignment_id is not null and a.id is null
  and (p_lenser_id is null or s.lenser_id = p_lenser_id)
union all
select 'gateway cron', c.id, 'gateway ' || c.gateway_id || ' is gone'
from agents.gateway_crons as c
left join agents.gateways as g on g.id = c.gateway_id and g.lenser_id = c.lenser_id
where g.id is null and (p_lenser_id is null or c.lenser_id = p_lenser_id)
$$;

comment on function lenses.fn_missing_parents(uuid) is
  'Schedules and gateway crons whose workflow, calendar, assignment or gateway is gone: resource, '
  'id, detail. p_lenser_id NULL: of every tenant.';
