-- owner: lf_sql_engine
-- Guard of a tenant's rows against writers without the table owner's rights, service_role above
-- all, once the tenant has departed: what they wrote would stay behind. RPCs have asked
-- lensers.fn_hold_lenser already.
create or replace function lensers.tg_require_here()
returns trigger
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform lensers.fn_require_here(new.lenser_id);
  return new;
end;
$$;

comment on function lensers.tg_require_here() is
  'Refuses (42501) to write a row of a tenant that has departed to another cell.';
