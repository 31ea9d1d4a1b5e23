-- owner: lf_sql_engine
-- For service_role: does one part of the tick's deliveries, by the server's clock, for callers that
-- want them more often. Safe to run beside the tick.
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
  'Reads the answers of deliveries and posts what is due, as each tick does, for a job that runs '
  'more often: with pg_cron 1.5 or newer, cron.schedule(''deliver'', ''5 seconds'', ''select '
  'lenses.fn_deliver()''). Returns the number of answers, requests and dead letters; 0 while '
  'frozen.';
