-- owner: lf_sql_engine
-- What stands in lenses.timezones is taken for a zone without another look: only names that the
-- server itself lists come in, whoever writes them.
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
