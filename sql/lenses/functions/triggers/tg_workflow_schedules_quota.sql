-- owner: lf_sql_engine
-- Schedules that come or go, by whatever door, lenser by lenser in the order of their ids.
create or replace function lenses.tg_workflow_schedules_quota()
returns trigger
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  if tg_op = 'TRUNCATE' then
    update lenses.lenser_usage as u
    set schedules = f.schedules, template_bytes = f.template_bytes
    from lenses.fn_usage_of_all() as f
    where f.lenser_id = u.lenser_id;
  elsif tg_op = 'DELETE' then
    perform lenses.fn_use_quota(n.lenser_id, -n.schedules, 0, -n.bytes)
    from (
      select o.lenser_id, count(*) as schedules, sum(lenses.fn_template_bytes(
        o.inputs_template, o.inputs_rotation, o.pre_dispatch_condition))::bigint as bytes
      from old_rows as o
      group by o.lenser_id
      order by o.lenser_id
    ) as n;
  else
    perform lenses.fn_use_quota(n.lenser_id, n.schedules, 0, n.bytes)
    from (
      select r.lenser_id, count(*) as schedules, sum(lenses.fn_template_bytes(
        r.inputs_template, r.inputs_rotation, r.pre_dispatch_condition))::bigint as bytes
      from new_rows as r
      group by r.lenser_id
      order by r.lenser_id
    ) as n;
  end if;
  return null;
end;
$$;
