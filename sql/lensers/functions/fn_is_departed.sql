-- owner: lf_sql_engine
-- Whether a tenant has departed to another cell. Its rows are written by an arrival, a departure or
-- a restore alone, as they are: triggers that check or derive ask this.
create or replace function lensers.fn_is_departed(p_lenser_id uuid)
returns boolean
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  return exists (
    select from lensers.profiles as p where p.id = p_lenser_id and p.departed_at is not null);
end;
$$;
