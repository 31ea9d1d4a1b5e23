-- owner: lf_sql_engine
-- For service_role: one piece of deliveries by the server's clock, for who wants them more often
-- than the tick comes. Safe beside it.
create or replace function lenses.fn_deliver()
returns integer
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  if not lenses.fn_admit_work() or (select d.is_frozen from lenses.dispatch_settings as d) then
    return 0;
  end if;
  return lenses.fn_deliver_part(clock_timestamp(), 100);
end;
$$;

comment on function lenses.fn_deliver() is
  'Reads the answers of deliveries and posts what is due, as each tick does, for a job that comes '
  'more often: with pg_cron 1.5 or newer, cron.schedule(''deliver'', ''5 seconds'', ''select '
  'lenses.fn_deliver()''). Returns how many answers, requests and dead letters that were; 0 while '
  'frozen.';
