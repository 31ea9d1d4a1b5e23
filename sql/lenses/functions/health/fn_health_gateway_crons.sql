-- owner: lf_sql_engine
-- Gateway crons that would fall silent, a line each.
create or replace function lenses.fn_health_gateway_crons(p_lenser_id uuid)
returns table (check_name text, state text, label text, detail text, advice text, schedule_id uuid)
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
select
  'gateway cron', 'bad', f.label, format('%s of %s: %s', c.operation,
    coalesce(g.name, 'a gateway that is gone'), f.detail), f.advice, null::uuid
from (
  select m.id, m.label, m.detail, 'lf-sql schedule recompute --all' as advice
  from lenses.fn_misplaced_gateway_crons(p_lenser_id) as m
  union all
  select m.id, 'PARENT_GONE', m.detail, format('remove it: lf-sql gateway cron remove %s', m.id)
  from lenses.fn_missing_parents(p_lenser_id) as m
  where m.resource = 'gateway cron'
  union all
  select c.id, 'ZONE_GONE', format('this server does not know the zone %s', c.timezone),
    'install the server''s zone data, or give it a zone of pg_timezone_names'
  from agents.gateway_crons as c
  where c.is_active and c.next_run_at is null and not lenses.fn_has_zone(c.timezone)
    and (p_lenser_id is null or c.lenser_id = p_lenser_id)
) as f
inner join agents.gateway_crons as c on c.id = f.id
left join agents.gateways as g on g.id = c.gateway_id
order by c.operation, f.id
$$;

comment on function lenses.fn_health_gateway_crons(uuid) is
  'Findings about gateway crons, a line each; p_lenser_id NULL: of every tenant. Columns as of '
  'lenses.fn_health.';
