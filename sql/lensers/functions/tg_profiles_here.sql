-- owner: lf_sql_engine
-- Guard of the profile of a tenant that has departed: change the name in the cell that it lives in.
create or replace function lensers.tg_profiles_here()
returns trigger
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform lensers.fn_require_here(old.id);
  return new;
end;
$$;

comment on function lensers.tg_profiles_here() is
  'Refuses (42501) to change the profile of a tenant that has departed to another cell.';
