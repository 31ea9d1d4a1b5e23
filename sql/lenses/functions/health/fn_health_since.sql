-- The time between two instants in the words of lenses.fn_health_age; "forever" where one of them
-- is infinite, as a row of an older version may have. plpgsql, as fn_health_age is.
create or replace function lenses.fn_health_since(p_from timestamptz, p_until timestamptz)
returns text
language plpgsql
immutable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_from is null or p_until is null then
    return null;
  elsif isfinite(p_from) and isfinite(p_until) then
    return lenses.fn_health_age(p_until - p_from);
  end if;
  return 'forever';
end;
$$;
