-- The time between two instants in the words of lenses.fn_health_age; "forever" where one of them
-- is infinite, as in rows of old versions.
create or replace function lenses.fn_health_since(p_from timestamptz, p_until timestamptz)
returns text
language sql
immutable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
select case
  when p_from is null or p_until is null then null
  when isfinite(p_from) and isfinite(p_until) then lenses.fn_health_age(p_until - p_from)
  else 'forever'
end
$$;
