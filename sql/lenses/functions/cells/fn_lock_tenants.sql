-- owner: lf_sql_engine
-- Locks tenants for a departure, its return or an arrival, in the order of ARCHITECTURE.md: their
-- profiles first, which waits for their calls under way, then what ticks, claims and completions
-- lock; running runs too, since a lease that ends makes them wait. No lock is stronger than NO KEY
-- UPDATE, so that no foreign key waits. Raises 22023 for a tenant that does not exist.
create or replace function lenses.fn_lock_tenants(p_lenser_ids uuid[])
returns void
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_unknown uuid;
begin
  perform from lensers.profiles as p
  where p.id = any (p_lenser_ids)
  order by p.id
  for no key update;
  select q.id into v_unknown
  from unnest(p_lenser_ids) as q (id)
  where not exists (select from lensers.profiles as p where p.id = q.id)
  limit 1;
  if found or array_position(p_lenser_ids, null) is not null then
    raise exception using
      errcode = '22023',
      column = 'lenser_ids',
      message = format('there is no tenant %s', coalesce('"' || v_unknown || '"', 'NULL')),
      hint = 'lf-sql tenant list shows the tenants of this cell.';
  end if;
  perform from lenses.workflow_schedules as s
  where s.lenser_id = any (p_lenser_ids)
  order by s.id
  for no key update;
  perform from lenses.workflow_runs as r
  where r.lenser_id = any (p_lenser_ids) and r.status in ('pending_approval', 'pending', 'running')
  order by r.schedule_id, r.id
  for no key update;
  perform from lenses.schedule_due as d
  where d.lenser_id = any (p_lenser_ids)
  order by d.schedule_id
  for no key update;
  perform from agents.team_runs as t
  where t.lenser_id = any (p_lenser_ids) and t.approval_status = 'pending'
  order by t.id
  for no key update;
  perform from lenses.outbox as o
  where o.lenser_id = any (p_lenser_ids)
  order by o.id
  for no key update;
  perform from agents.gateway_cron_runs as r
  where r.lenser_id = any (p_lenser_ids) and r.status in ('pending', 'running')
  order by r.id
  for no key update;
  perform from agents.gateway_crons as c
  where c.lenser_id = any (p_lenser_ids)
  order by c.id
  for no key update;
end;
$$;
