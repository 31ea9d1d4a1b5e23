-- owner: lf_sql_engine
-- A name in lenses.timezones counts as a zone without another check, so only names that the server
-- itself lists are accepted, whoever writes them.
create or replace function lenses.tg_timezones_check()
returns trigger
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform lenses.fn_check_timezone(new.name);
  return new;
end;
$$;
