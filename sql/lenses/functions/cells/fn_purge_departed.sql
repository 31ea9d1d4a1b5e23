-- owner: lf_sql_engine
-- For the purge: what tenants whose departure was settled before p_before have left behind, about
-- p_limit rows a table; returns how many. The profile stays and says where the tenant lives; runs,
-- events and logs go by their own retention, and workflows once no run of theirs is left. An
-- arrival waits for the profile's lock, or is skipped.
create or replace function lenses.fn_purge_departed(p_before timestamptz, p_limit integer)
returns integer
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_ids uuid[];
  v_count integer;
  v_total integer := 0;
begin
  v_ids := array(
    select p.id from lensers.profiles as p
    where p.departure_settled_at < p_before
    order by p.id
    for no key update skip locked);
  if v_ids = '{}' then
    return 0;
  end if;
  delete from lenses.departed_rows as d
  where d.lenser_id = any (v_ids);
  get diagnostics v_count = row_count;
  v_total := v_total + v_count;
  -- Deliveries go, and the secrets that no other one signs with.
  with gone as (
    delete from lenses.deliveries as d
    using lenses.workflows as w
    where w.id = d.workflow_id and w.lenser_id = any (v_ids)
    returning d.name, d.secret_name
  )
  delete from lenses.delivery_secrets as s
  where s.name in (select g.secret_name from gone as g)
    and not exists (
      select from lenses.deliveries as d
      where d.secret_name = s.name and d.name not in (select g.name from gone as g));
  get diagnostics v_count = row_count;
  v_total := v_total + v_count;
  delete from lenses.workflow_schedules as s
  where s.id in (
    select x.id from lenses.workflow_schedules as x where x.lenser_id = any (v_ids) limit p_limit);
  get diagnostics v_count = row_count;
  v_total := v_total + v_count;
  delete from agents.gateways as g where g.lenser_id = any (v_ids);
  get diagnostics v_count = row_count;
  v_total := v_total + v_count;
  delete from lenses.workflows as w
  where w.lenser_id = any (v_ids)
    and not exists (select from lenses.workflow_runs as r where r.workflow_id = w.id)
    and not exists (select from lenses.workflow_schedules as s where s.workflow_id = w.id);
  get diagnostics v_count = row_count;
  v_total := v_total + v_count;
  delete from lenses.schedule_calendars as c
  where c.lenser_id = any (v_ids)
    and not exists (select from lenses.workflow_schedules as s where s.calendar_id = c.id);
  get diagnostics v_count = row_count;
  return v_total + v_count;
end;
$$;
