-- owner: lf_sql_engine
-- Computes the next_run_at of a gateway cron where NULL is written to it. Where that is impossible,
-- because the server has lost its zone, it stays NULL and the tick tries again.
create or replace function agents.tg_gateway_crons_next()
returns trigger
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  if lenses.fn_has_zone(new.timezone) then
    new.next_run_at := agents.fn_free_gateway_slot(new, greatest(now(), clock_timestamp()));
    new.last_status := nullif(new.last_status, 'validation_failed');
  end if;
  return new;
end;
$$;
