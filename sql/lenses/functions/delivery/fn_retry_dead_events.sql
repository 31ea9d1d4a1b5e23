-- owner: lf_sql_engine
-- For operators (service_role): sends dead letters again, with all their attempts.
create or replace function lenses.fn_retry_dead_events(p_delivery text)
returns integer
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_count integer;
begin
  update lenses.outbox as o
  set dead_at = null, attempt = 0, available_at = null
  where o.delivery = p_delivery and o.dead_at is not null;
  get diagnostics v_count = row_count;
  if v_count > 0 then
    perform lenses.fn_notify_events();
  end if;
  return v_count;
end;
$$;

comment on function lenses.fn_retry_dead_events(text) is
  'Queues the dead letters of a delivery again, with all attempts, each before later events of '
  'its schedule. Returns how many.';
