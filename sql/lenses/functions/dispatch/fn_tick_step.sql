-- owner: lf_sql_engine
-- One batch of a begun tick, for a driver that commits each. True: call again. The tick's own start is
-- its clock, never later than the server's, whatever the row says.
create or replace function lenses.fn_tick_step(p_tick_id bigint)
returns boolean
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tick lenses.dispatch_ticks;
  v_settings lenses.dispatch_settings;
  v_limit integer;
  v_timeout_ms bigint;
begin
  if not lenses.fn_admit_work() then
    return false;
  end if;
  select t.* into v_tick from lenses.dispatch_ticks as t where t.id = p_tick_id;
  select d.* into v_settings from lenses.dispatch_settings as d;
  if v_tick.id is null or v_tick.finished_at is not null or v_settings.is_frozen then
    return false;
  end if;
  -- Under a statement timeout the batch must end well inside it, or it would never make progress.
  v_timeout_ms := extract(epoch from current_setting('statement_timeout')::interval) * 1000;
  v_limit := case
    when v_timeout_ms > 0 then least(v_settings.batch_size, greatest(v_timeout_ms / 2, 1))
    else v_settings.batch_size end;
  return lenses.fn_dispatch_pass(
    p_tick_id, least(v_tick.started_at, clock_timestamp()), v_limit,
    coalesce(v_tick.max_catchup, v_settings.max_catchup_per_tick)) > 0;
end
$$;

comment on function lenses.fn_tick_step(bigint) is 'Handles the next batch of a begun tick in the caller''s transaction; true while there may be more.';
