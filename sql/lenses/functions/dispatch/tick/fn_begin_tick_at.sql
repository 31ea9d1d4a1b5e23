-- owner: lf_sql_engine
-- Starts a tick: inserts its row, with the gap that it ends and what the tick before it left over.
-- Returns the tick's id, or NULL while the dispatcher is frozen or an upgrade is under way. A tick
-- in the future, left by a clock that was ahead, does not end a gap that this one has already
-- ended; once it is undone it does not count at all. The tick of any lane ends a gap; what was left
-- over belongs to the lane. Lanes share the round of the tick p_beside, or of the minute. Not for
-- request roles, because the clock is a parameter.
create or replace function lenses.fn_begin_tick_at(
  p_driver text,
  p_now timestamptz,
  p_lane integer default null,
  p_beside bigint default null
)
returns bigint
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
  v_settings lenses.dispatch_settings;
  v_before lenses.dispatch_ticks;
  v_silent_since timestamptz;
  v_tick_id bigint;
begin
  if not lenses.fn_admit_work() then
    return null;
  end if;
  select d.* into v_settings from lenses.dispatch_settings as d;
  if v_settings.is_frozen then
    return null;
  end if;
  select t.* into v_before
  from lenses.dispatch_ticks as t
  where t.started_at <= p_now and t.undone_at is null
  order by t.started_at desc, t.id desc
  limit 1;
  if coalesce(v_before.started_at, 'epoch') < p_now - v_settings.missed_grace then
    v_silent_since := coalesce(v_before.started_at, 'epoch');
  end if;
  if v_before.lane is distinct from coalesce(p_lane, 1) then
    select t.* into v_before
    from (
      select n.*
      from lenses.dispatch_ticks as n
      where n.started_at <= p_now and n.undone_at is null
      order by n.started_at desc, n.id desc
      limit 100
    ) as t
    where t.lane = coalesce(p_lane, 1)
    limit 1;
  end if;

  update lenses.dispatch_ticks as t
  set silent_since = case when t.started_at - p_now > v_settings.missed_grace then p_now end
  where t.id in (
    select a.id from lenses.dispatch_ticks as a
    where a.started_at > p_now and a.silent_since < p_now
    for no key update skip locked);

  insert into lenses.dispatch_ticks (
    driver, started_at, lane, round_at, silent_since, passes, part_limit, batch_limit
  )
  values (
    left(p_driver, 200),
    p_now,
    coalesce(p_lane, 1),
    coalesce(
      (select t.round_at from lenses.dispatch_ticks as t where t.id = p_beside),
      case when p_lane is null then p_now else date_trunc('minute', p_now) end),
    v_silent_since,
    coalesce(v_before.passes, 0),
    -- A size that a timeout has reduced grows again with each tick.
    case when v_before.part_limit <= 5000 then v_before.part_limit * 2 end,
    case when v_before.batch_limit <= 5000 then v_before.batch_limit * 2 end
  )
  returning id into v_tick_id;
  return v_tick_id;
end;
$$;
