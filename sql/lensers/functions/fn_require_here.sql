-- owner: lf_sql_engine
-- For what operators and executors do with a tenant's rows: refuses where the tenant has departed,
-- and keeps it here until the transaction ends. It may come after other locks: PostgreSQL ends one
-- of two that wait for each other.
create or replace function lensers.fn_require_here(p_lenser_id uuid)
returns void
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_departed_to text;
begin
  select p.departed_to into v_departed_to
  from lensers.profiles as p
  where p.id = p_lenser_id
  for share;
  if v_departed_to is not null then
    raise exception using
      errcode = '42501',
      message = format('tenant "%s" lives in another cell', p_lenser_id),
      hint = format('The tenant lives in cell %s.', v_departed_to);
  end if;
end;
$$;
