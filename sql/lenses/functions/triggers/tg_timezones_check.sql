-- owner: lf_sql_engine
-- A name in lenses.timezones counts as a zone without another check, so only names that the server
-- itself lists are accepted, from every role. One look at pg_timezone_names (25 ms) for all.
create or replace function lenses.tg_timezones_check()
returns trigger
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  if tg_level = 'ROW' then
    perform lenses.fn_check_timezone(new.name);
    return new;
  end if;
  perform lenses.fn_check_timezone(w.name)
    from new_rows as w
    where not exists (
      select from pg_timezone_names as zone
      where zone.name = w.name
        and zone.name !~ '^(posix|right)/'
        and zone.name <> all ('{localtime,posixrules,Factory}'::text[])
    );
  return null;
end;
$$;
