-- owner: lf_sql_engine
-- What stands in lenses.timezones is taken for a zone without another look: only names that the
-- server itself lists come in, whoever writes them. One look at pg_timezone_names (25 ms) for all.
create or replace function lenses.tg_timezones_check()
returns trigger
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform lenses.fn_check_timezone(w.name)
    from written as w
    where not exists (
      select from pg_timezone_names as zone
      where zone.name = w.name
        and zone.name !~ '^(posix|right)/'
        and zone.name <> all ('{localtime,posixrules,Factory}'::text[])
    );
  return null;
end;
$$;
