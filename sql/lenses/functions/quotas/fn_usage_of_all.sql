-- owner: lf_sql_engine
-- What lenses.lenser_usage must say, from the rows themselves: for a recount, and to see that it
-- does.
create or replace function lenses.fn_usage_of_all()
returns table (lenser_id uuid, schedules bigint, gateway_crons bigint, template_bytes bigint)
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
select
  p.id, coalesce(s.n, 0), coalesce(g.n, 0), coalesce(s.bytes, 0)::bigint + coalesce(g.bytes, 0)
from lensers.profiles as p
left join (
  select
    x.lenser_id, count(*) as n,
    sum(lenses.fn_template_bytes(x.inputs_template, x.inputs_rotation, x.pre_dispatch_condition))
      as bytes
  from lenses.workflow_schedules as x
  group by x.lenser_id
) as s on s.lenser_id = p.id
left join (
  select x.lenser_id, count(*) as n, sum(octet_length(x.payload::text)) as bytes
  from agents.gateway_crons as x
  group by x.lenser_id
) as g on g.lenser_id = p.id
$$;
