-- owner: lf_sql_engine
-- All whose next slot is not where it should be, schedules and gateway crons alike; p_lenser_id
-- narrows it to one tenant.
create or replace function lenses.fn_misplaced_schedules(p_lenser_id uuid default null)
returns table (resource text, id uuid, label text, detail text)
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
select 'schedule', m.id, m.label, m.detail
from lenses.fn_misplaced_slots(p_lenser_id) as m
union all
select 'gateway cron', m.id, m.label, m.detail
from lenses.fn_misplaced_gateway_crons(p_lenser_id) as m
$$;

comment on function lenses.fn_misplaced_schedules(uuid) is
  'Active schedules and gateway crons whose next_run_at is missing, no slot, or beyond the next '
  'slot: resource, id, label (DEAD, PARKED, NOT_A_SLOT, ZONE_CHANGED), detail. p_lenser_id NULL: '
  'of every tenant. lenses.fn_recompute_schedule and agents.fn_recompute_gateway_cron mend them.';
