-- For tests/cron/test_moved_ranges.py: slots that move, found one by one, as before they were listed
-- in ranges. model.moves looks at each slot by itself, and model.next searches anew from each slot.
create schema model;

create function model.moves(
  p_spec lenses.cron_spec,
  p_timezone text,
  p_from timestamptz,
  p_until timestamptz
)
returns table (origin timestamptz, slot timestamptz)
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  c_epoch constant bigint := lenses.fn_cron_epoch();
  v_base lenses.cron_spec := lenses.fn_cron_base(p_spec);
  v_zone text := lenses.fn_timezone_of_abbreviation(p_timezone);
  v_step integer := case when p_spec.day_rule & 32 <> 0 then -1440 else 1440 end;
  v_dates date[];
  v_calendar_zone text;
  v_is_skip boolean;
  v_minute bigint;
  v_wall bigint;
  v_last bigint;
  v_next timestamptz;
  v_known timestamptz := '-infinity';
  v_today date;
  v_date date;
  v_away integer;
  v_reach bigint;
  v_is_steady boolean;
begin
  origin := p_from;
  loop
    origin := lenses.fn_cron_next_after_spec(v_base, p_timezone, origin);
    exit when origin is null or origin > p_until;
    -- reads the calendar's dates in parts, because a caller may stop at the first slot
    if origin > v_known then
      v_known := least(greatest(p_until, origin), origin + interval '130 days');
      select c.timezone, c.is_skip, c.dates into v_calendar_zone, v_is_skip, v_dates
      from lenses.fn_calendar_window(
        p_spec.calendar_id, origin - interval '35 days', v_known + interval '35 days') as c;
    end if;
    v_today := (origin at time zone v_calendar_zone)::date;
    if (v_today = any (v_dates)) is distinct from v_is_skip then
      slot := origin;
      return next;
      continue;
    end if;
    v_minute := floor(extract(epoch from origin) / 60)::bigint + c_epoch;
    -- once for each date: how many days away the next open one is, and whether the clock changes
    -- before it
    if v_today is distinct from v_date then
      v_date := v_today;
      select min(n) into v_away
      from generate_series(1, 31) as n
      where ((v_today + n * v_step / 1440) = any (v_dates)) is distinct from v_is_skip;
      v_reach := coalesce(v_away, 31) * v_step;
      v_is_steady := not exists (
        select
        from unnest(array[p_timezone, v_calendar_zone]) as z (name)
        where lenses.fn_cron_next_transition(
          lenses.fn_timezone_of_abbreviation(z.name),
          v_minute + least(v_reach, 0) - 1500,
          v_minute + greatest(v_reach, 0) + 1500) is not null);
    end if;
    if v_is_steady then
      slot := origin + coalesce(v_away, 0) * v_step * interval '1 minute';
      return next;
      continue;
    end if;
    v_last := lenses.fn_cron_wall_minute(v_zone, v_minute);
    v_wall := v_last;
    if not v_base.is_real_time then
      v_wall := lenses.fn_cron_wall_next(
        v_base, least(lenses.fn_cron_wall_minute(v_zone, v_minute - 1), v_last - 1));
    end if;
    while v_wall <= v_last loop
      slot := origin;
      -- a gap may take a minute to the next date, so the day before the open one may reach it
      for v_day in greatest(coalesce(v_away, 32) - 1, 1) .. 31 loop
        v_next := to_timestamp(
          ((lenses.fn_cron_wall_instant(v_zone, v_wall + v_day * v_step) - c_epoch) * 60)::float8);
        if ((v_next at time zone v_calendar_zone)::date = any (v_dates))
          is distinct from v_is_skip then
          slot := v_next;
          exit;
        end if;
      end loop;
      return next;
      exit when v_base.is_real_time;
      v_wall := lenses.fn_cron_wall_next(v_base, v_wall);
    end loop;
  end loop;
end;
$$;

create function model.next(
  p_spec lenses.cron_spec,
  p_timezone text,
  p_after timestamptz
)
returns timestamptz
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_base lenses.cron_spec := lenses.fn_cron_base(p_spec);
  v_is_back boolean := p_spec.day_rule & 32 <> 0;
  v_from timestamptz := p_after;
  v_until timestamptz;
  v_next timestamptz;
  v_slot timestamptz;
begin
  if p_spec.day_rule = 8 then
    return case when p_spec.run_at > p_after then p_spec.run_at end;
  end if;
  if not v_is_back then
    -- slots of the closed dates just before may have moved to the next open one
    v_from := lenses.fn_calendar_barrier(p_spec.calendar_id, p_after, -1);
  end if;
  v_next := lenses.fn_cron_next_after_spec(v_base, p_timezone, p_after);
  loop
    v_until := case
      when v_is_back then lenses.fn_calendar_barrier(p_spec.calendar_id, v_next, 1)
      else v_next end;
    exit when v_until <= v_from;
    select least(v_slot, min(m.slot)) into v_slot
    from model.moves(p_spec, p_timezone, v_from, coalesce(v_until, p_after)) as m
    where m.slot > p_after;
    exit when v_until is null;
    v_from := v_until;
    v_next := coalesce(v_slot, lenses.fn_cron_next_after_spec(v_base, p_timezone, v_until));
  end loop;
  return v_slot;
end;
$$;
