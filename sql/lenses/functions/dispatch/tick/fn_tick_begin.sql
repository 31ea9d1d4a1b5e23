-- owner: lf_sql_engine
-- Begins a tick by the server's clock and returns its id; NULL while the dispatcher is frozen or an
-- upgrade is under way, and for a lane beyond dispatch_lanes.
create or replace function lenses.fn_tick_begin(
  p_driver text,
  p_max_catchup integer default null,
  p_lane integer default null,
  p_beside bigint default null
)
returns bigint
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tick_id bigint;
begin
  if p_driver is null then
    raise exception using
      errcode = '22023',
      column = 'driver',
      message = 'p_driver is missing',
      hint = 'Say who drives the tick, for example worker.';
  end if;
  if p_max_catchup not between 1 and 10000 then
    raise exception using
      errcode = '22023',
      column = 'max_catchup',
      message = format('max_catchup_per_tick %s is out of range', p_max_catchup),
      hint = 'Allowed are 1 to 10000 slots.';
  end if;
  if p_lane not between 1 and 16 then
    raise exception using
      errcode = '22023',
      column = 'lane',
      message = format('lane %s is out of range', p_lane),
      hint = 'Allowed are 1 to 16: see dispatch_lanes of the settings.';
  end if;
  if p_lane > (select d.dispatch_lanes from lenses.dispatch_settings as d) then
    return null;
  end if;
  v_tick_id := lenses.fn_begin_tick_at(p_driver, clock_timestamp(), p_lane, p_beside);
  if p_max_catchup is not null then
    update lenses.dispatch_ticks as t set max_catchup = p_max_catchup where t.id = v_tick_id;
  end if;
  return v_tick_id;
end;
$$;

comment on function lenses.fn_tick_begin(text, integer, integer, bigint) is
  'Begins a tick: p_driver names who drives it; p_max_catchup outranks max_catchup_per_tick for '
  'this tick. p_lane (1 to 16): which of several drivers this is, that share the work of a '
  'minute, or of the tick p_beside; NULL: it is alone. Returns its id for lenses.fn_tick_step and '
  'lenses.fn_tick_end, NULL while frozen, while an upgrade is under way, and for a lane beyond '
  'dispatch_lanes. 22023: a number out of range.';
