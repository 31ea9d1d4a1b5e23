-- owner: lf_sql_engine
-- Gateway crons that come or go, by whatever door, lenser by lenser in the order of their ids.
create or replace function agents.tg_gateway_crons_quota()
returns trigger
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  if tg_op = 'TRUNCATE' then
    update lenses.lenser_usage as u
    set gateway_crons = f.gateway_crons, template_bytes = f.template_bytes
    from lenses.fn_usage_of_all() as f
    where f.lenser_id = u.lenser_id;
  elsif tg_op = 'DELETE' then
    perform lenses.fn_use_quota(n.lenser_id, 0, -n.crons, -n.bytes)
    from (
      select o.lenser_id, count(*) as crons, sum(octet_length(o.payload::text)) as bytes
      from old_rows as o
      group by o.lenser_id
      order by o.lenser_id
    ) as n;
  else
    perform lenses.fn_use_quota(n.lenser_id, 0, n.crons, n.bytes)
    from (
      select r.lenser_id, count(*) as crons, sum(octet_length(r.payload::text)) as bytes
      from new_rows as r
      group by r.lenser_id
      order by r.lenser_id
    ) as n;
  end if;
  return null;
end;
$$;

comment on function agents.tg_gateway_crons_quota() is
  'Books gateway crons that come or go in lenses.lenser_usage; 53400 at a quota.';
