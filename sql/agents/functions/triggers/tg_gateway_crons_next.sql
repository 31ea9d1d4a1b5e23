-- owner: lf_sql_engine
-- NULL written to the next_run_at of a gateway cron means: compute it. Where that cannot be (its
-- zone has left the server) it stays NULL, and the tick tries again.
create or replace function agents.tg_gateway_crons_next()
returns trigger
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  if lenses.fn_has_zone(new.timezone) then
    new.next_run_at := agents.fn_free_gateway_slot(new, now());
    new.last_status := nullif(new.last_status, 'validation_failed');
  end if;
  return new;
end;
$$;
