-- owner: lf_sql_engine
-- Active gateway crons whose next slot is missing (DEAD) or not the next one (PARKED), as
-- lenses.fn_misplaced_slots has it for schedules. p_lenser_id narrows it to one tenant.
create or replace function lenses.fn_misplaced_gateway_crons(p_lenser_id uuid)
returns table (id uuid, label text, detail text)
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
set jit = off
set timezone = 'UTC'
as $$
with zones as materialized (
  select z.name, lenses.fn_has_zone(z.name) as is_known
  from (select distinct c.timezone as name from agents.gateway_crons as c) as z
),

moments as materialized (
  select now() as at
),

crons as materialized (
  select c as cron, c.next_run_at, q.at, agents.fn_free_gateway_slot(c, q.at) as free_slot
  from agents.gateway_crons as c
  inner join zones as z on z.name = c.timezone
  cross join moments as q
  where c.is_active and z.is_known and (p_lenser_id is null or c.lenser_id = p_lenser_id)
    and (c.next_run_at is null or c.next_run_at > q.at)
)

select
  (c.cron).id,
  case when c.next_run_at is null then 'DEAD' else 'PARKED' end,
  case
    when c.next_run_at is null then
      format('is active and has no next run, though the next slot is %s',
        to_char(c.free_slot, 'YYYY-MM-DD HH24:MI UTC'))
    else
      format('next_run_at %s is not the next slot, %s',
        to_char(c.next_run_at, 'YYYY-MM-DD HH24:MI:SS UTC'),
        to_char(c.free_slot, 'YYYY-MM-DD HH24:MI UTC'))
  end
from crons as c
where c.free_slot is not null and c.next_run_at is distinct from c.free_slot
$$;
