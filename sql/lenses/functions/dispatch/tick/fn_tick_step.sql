-- owner: lf_sql_engine
-- One batch or one piece of housekeeping of a begun tick, for a driver that commits each. True:
-- call again. The tick's own start is its clock, never later than the server's, whatever the row
-- says. What a statement timeout cuts off is tried again at half the size. Of several lanes one at
-- a time does housekeeping, the others go on with batches: it is the one that holds the row of
-- settings.
create or replace function lenses.fn_tick_step(p_tick_id bigint)
returns boolean
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tick lenses.dispatch_ticks;
  v_settings lenses.dispatch_settings;
  v_now timestamptz;
  v_limit integer;
  v_timeout_ms bigint;
  v_is_more boolean;
  v_is_keeper boolean := true;
begin
  if not lenses.fn_admit_work() then
    return false;
  end if;
  select t.* into v_tick from lenses.dispatch_ticks as t where t.id = p_tick_id;
  select d.* into v_settings from lenses.dispatch_settings as d;
  if v_tick.id is null or v_tick.finished_at is not null or v_settings.is_frozen then
    return false;
  end if;
  v_now := least(v_tick.started_at, clock_timestamp());
  -- Under a statement timeout the batch must end well inside it, or it would never make progress.
  v_timeout_ms := extract(epoch from current_setting('statement_timeout')::interval) * 1000;
  v_limit := least(
    v_settings.batch_size, case when v_timeout_ms > 0 then greatest(v_timeout_ms / 2, 1) end);
  if v_settings.dispatch_lanes > 1 then
    perform from lenses.dispatch_settings as d for no key update skip locked;
    v_is_keeper := found;
  end if;
  if v_is_keeper and not v_tick.is_batch_next
    and lenses.fn_tick_housekeeping(p_tick_id, v_now, least(v_limit, 1000)) then
    return true;
  end if;

  v_limit := least(v_limit, v_tick.batch_limit);
  begin
    v_is_more := lenses.fn_dispatch_pass(
      p_tick_id, v_now, v_limit,
      coalesce(v_tick.max_catchup, v_settings.max_catchup_per_tick)) > 0;
  exception when query_canceled then
    if v_limit = 1 or not lenses.fn_is_timed_out() then
      raise;
    end if;
    v_is_more := true;
    update lenses.dispatch_ticks as t
    set batch_limit = v_limit / 2,
      note = left(concat_ws('; ', t.note, format('a batch was cut off: %s', sqlerrm)), 2000)
    where t.id = p_tick_id;
  end;
  update lenses.dispatch_ticks as t
  set is_batch_next = false
  where t.id = p_tick_id and t.is_batch_next;
  return v_is_more or v_tick.is_batch_next;
end;
$$;

comment on function lenses.fn_tick_step(bigint) is
  'Handles the next batch of a begun tick, or the next piece of its housekeeping, in the '
  'caller''s transaction; true while there may be more.';
