-- owner: lf_sql_engine
-- For lf-sql cells: tenants leave this cell for the cell p_to. From the commit on they are no
-- callers here, and nothing of theirs is due, waits or is claimed. What was live lies in
-- lenses.departed_rows as it was. Returns those that have departed to p_to, now or before, so that
-- it may be repeated. 55006, and nothing is changed, while runs of theirs are running.
create or replace function lenses.fn_depart_tenants(p_lenser_ids uuid[], p_to text)
returns uuid[]
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_ids uuid[];
begin
  perform lenses.fn_check_cell_name(p_to);
  perform lenses.fn_lock_tenants(p_lenser_ids);
  v_ids := array(
    select p.id from lensers.profiles as p
    where p.id = any (p_lenser_ids) and p.departed_at is null
    order by p.id);
  perform lenses.fn_refuse_running(v_ids);
  update lensers.profiles as p set departed_at = now(), departed_to = p_to
  where p.id = any (v_ids);
  perform lenses.fn_put_aside(v_ids, p_to, false);
  return array(
    select p.id from lensers.profiles as p
    where p.id = any (p_lenser_ids) and p.departed_to = p_to
    order by p.id);
end;
$$;

comment on function lenses.fn_depart_tenants(uuid[], text) is
  'Tenants leave this cell for the cell p_to: no caller, no schedule and no waiting run of theirs '
  'is here any more. Returns those that have departed to p_to, now or before. 55006 while runs of '
  'theirs are running; 22023 for a tenant or a name that is none.';
