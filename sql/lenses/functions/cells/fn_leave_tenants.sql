-- owner: lf_sql_engine
-- For lf-sql cells split, in the new cell: tenants live in the cell p_to, and what is here is a
-- copy of them. They are no callers here; whatever is due, waits or is running here ends without a
-- word, since it goes on there. Nothing is kept for fn_return_tenants: such a tenant comes by
-- fn_arrive_tenant, which replaces the copy. Returns those that are at p_to, so that it may be
-- repeated.
create or replace function lenses.fn_leave_tenants(p_lenser_ids uuid[], p_to text)
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
  update lensers.profiles as p set departed_at = now(), departed_to = p_to
  where p.id = any (v_ids);
  perform lenses.fn_put_aside(v_ids, p_to, true);
  return array(
    select p.id from lensers.profiles as p
    where p.id = any (p_lenser_ids) and p.departed_to = p_to
    order by p.id);
end;
$$;

comment on function lenses.fn_leave_tenants(uuid[], text) is
  'In a cell that is a copy of the cell p_to: these tenants live there, and the copy ends without '
  'a word, running runs too. Returns those that are at p_to. 22023 for a tenant or a name that is '
  'none.';
