-- owner: lf_sql_engine
-- Starts a tick: its row, then the housekeeping. Returns the tick's id, or NULL while the dispatcher is
-- frozen or an upgrade is under way. Not for request roles: the clock is a parameter here.
create or replace function lenses.fn_open_tick(p_driver text, p_now timestamptz)
returns bigint
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
  v_tick_id bigint;
begin
  if not lenses.fn_admit_work() or (select d.is_frozen from lenses.dispatch_settings as d) then
    return null;
  end if;
  insert into lenses.dispatch_ticks (driver, started_at)
  values (left(p_driver, 200), p_now)
  returning id into v_tick_id;
  perform lenses.fn_tick_housekeeping(v_tick_id, p_now);
  return v_tick_id;
end
$$;
