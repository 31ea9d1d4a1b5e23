-- Can slots be computed in this zone now? Asked of the server's zone data by a conversion, which
-- costs microseconds; pg_timezone_names would cost 25 ms.
create or replace function lenses.fn_has_zone(p_timezone text)
returns boolean
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  perform timezone(p_timezone, timestamptz 'epoch');
  return true;
exception
  when invalid_parameter_value then
    return false;
end;
$$;
