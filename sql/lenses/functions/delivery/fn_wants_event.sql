-- owner: lf_sql_engine
-- Does any delivery ask for such events? What would tell of one asks this first: where none does,
-- it costs one look at a table with few rows.
create or replace function lenses.fn_wants_event(p_event_type text)
returns boolean
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  return exists (
    select from lenses.deliveries as d where d.is_active and p_event_type = any (d.sends));
end;
$$;
