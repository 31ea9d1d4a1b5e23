-- owner: lf_sql_engine
-- A workflow's definition has changed: clears the error of schedules whose newest slot failed on
-- its cycle, where the version that they would start has no cycle. The caller has locked the
-- workflow, as all code does before it locks schedules with it.
create or replace function lenses.fn_clear_mended_of(p_workflow_id uuid)
returns void
language sql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
update lenses.workflow_schedules as s
set last_dispatch_status = null, last_error_at = null, last_error_message = null
from (
  select c.id
  from lenses.workflow_schedules as c
  where c.workflow_id = p_workflow_id and c.last_dispatch_status = 'validation_failed'
    and c.last_error_message ~ '^cycle_detected' and not lenses.fn_error_stands(c)
  order by c.id
  for no key update
) as q
where s.id = q.id
$$;

comment on function lenses.fn_clear_mended_of(uuid) is
  'Clears cycle_detected of the workflow''s schedules where it is mended.';
