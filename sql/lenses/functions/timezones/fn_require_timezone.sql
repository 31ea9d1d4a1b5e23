-- owner: lf_sql_engine
-- Refuses a zone that is not an IANA name of this server (22023). A name seen before costs a
-- look-up in lenses.timezones and a conversion, which fails if the server has lost the zone; a new
-- one is sought in pg_timezone_names (25 ms) and remembered.
create or replace function lenses.fn_require_timezone(p_timezone text)
returns void
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  if exists (select from lenses.timezones as z where z.name = p_timezone) then
    perform timezone(p_timezone, timestamptz 'epoch');
    return;
  end if;
  perform lenses.fn_check_timezone(p_timezone);
  insert into lenses.timezones (name) values (p_timezone) on conflict do nothing;
end;
$$;
