-- The slots of a spec's expression in (p_from, p_until], each with where it goes. A slot on an open
-- date of the spec's calendar stays. Any other moves, at its wall-clock minute, to the nearest open
-- date within 31 days, after or before it by day_rule. Where there is none it stays, and the
-- calendar skips it. Dates are those of the calendar's own zone. Where the end of a gap stands for
-- the minutes that the gap skipped, those minutes move.
-- Far from any change of a clock a day's slots are listed in one query, since all of them go the
-- same way; near one they are searched and moved one by one.
create or replace function lenses.fn_cron_moves(
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
  v_turns bigint[];
  v_times integer[];
  v_today date;
  v_date date;
  v_is_open boolean;
  v_away integer;
  v_reach bigint;
  v_shift bigint;
  v_turn bigint;
  v_is_steady boolean;
  v_is_calm boolean;
begin
  origin := p_from;
  loop
    origin := lenses.fn_cron_next_after_spec(v_base, p_timezone, origin);
    exit when origin is null or origin > p_until;
    v_minute := floor(extract(epoch from origin) / 60)::bigint + c_epoch;
    -- reads the calendar's dates in parts, because p_until may be far away
    if origin > v_known then
      v_known := least(greatest(p_until, origin), origin + interval '130 days');
      select c.timezone, c.is_skip, c.dates into v_calendar_zone, v_is_skip, v_dates
      from lenses.fn_calendar_window(
        p_spec.calendar_id, origin - interval '35 days', v_known + interval '35 days') as c;
      -- 31 days that a slot may move, and three more on both sides
      v_turns := lenses.fn_cron_turns(
        array[v_zone, v_calendar_zone], v_minute - 4320 + least(31 * v_step, 0),
        floor(extract(epoch from v_known) / 60)::bigint + c_epoch + 4320
        + greatest(31 * v_step, 0));
      v_date := null;
    end if;
    v_today := (origin at time zone v_calendar_zone)::date;
    -- once for each date: how many days away the next open one is, whether a clock is turned before
    -- it, and whether that is far from both dates
    if v_today is distinct from v_date then
      v_date := v_today;
      v_is_open := (v_today = any (v_dates)) is distinct from v_is_skip;
      v_away := 0;
      if not v_is_open then
        select min(n) into v_away
        from generate_series(1, 31) as n
        where ((v_today + n * v_step / 1440) = any (v_dates)) is distinct from v_is_skip;
      end if;
      v_reach := coalesce(v_away, 31) * v_step;
      v_is_steady := true;
      v_is_calm := true;
      if v_turns <> '{}' then
        select
          bool_and(x.far not between least(v_reach, 0) - 1499 and greatest(v_reach, 0) + 1500),
          bool_and(x.far not between -1499 and 1500
            and x.far not between v_reach - 4319 and v_reach + 4320)
        into v_is_steady, v_is_calm
        from unnest(v_turns) as t
        cross join lateral (select t - v_minute as far) as x;
      end if;
    end if;

    v_wall := lenses.fn_cron_wall_minute(v_zone, v_minute);
    if v_is_steady or v_is_calm then
      -- the rest of the date, or of the day in the spec's zone, goes the same way
      v_last := least(
        v_wall - v_wall % 1440 + 1439,
        ceil(extract(epoch from least(
          p_until + interval '1 microsecond',
          (v_today + 1)::timestamp at time zone v_calendar_zone)) / 60)::bigint
        + c_epoch - 1 + v_wall - v_minute);
      v_shift := coalesce(v_away, 0) * v_step;
      if not v_is_steady then
        -- a clock is turned on the way: do all come to an open date, and none the day before?
        v_turn := v_reach + v_wall - v_minute
          - lenses.fn_cron_wall_minute(v_zone, v_minute + v_reach) + v_minute + v_reach;
        select case
          when v_away is null and not bool_or(d.is_open) then 0
          when bool_and(d.is_open = (x.back = 0)) then v_turn end
        into v_shift
        from (values
          (v_minute, 0), (v_minute, v_step),
          (v_last - v_wall + v_minute, 0), (v_last - v_wall + v_minute, v_step)
        ) as x (minute, back)
        cross join lateral (
          select (to_timestamp(((x.minute + v_turn - x.back - c_epoch) * 60)::float8)
            at time zone v_calendar_zone)::date as day
        ) as y
        cross join lateral (
          select (y.day = any (v_dates)) is distinct from v_is_skip as is_open
        ) as d;
      end if;
      if v_shift is not null then
        v_times := coalesce(v_times, array(
          select h * 60 + m
          from generate_series(0, 23) as h
          cross join generate_series(0, 59) as m
          where (p_spec.hours >> h) & 1 = 1 and (p_spec.minutes >> m) & 1 = 1
          order by h, m));
        return query
        select o.at, o.at + v_shift * interval '1 minute'
        from unnest(v_times) as t
        cross join lateral (
          select to_timestamp(((v_minute + t - v_wall % 1440 - c_epoch) * 60)::float8) as at
        ) as o
        where t between v_wall % 1440 and v_wall % 1440 + v_last - v_wall;
        origin := to_timestamp(((v_last - v_wall + v_minute - c_epoch) * 60)::float8);
        continue;
      end if;
    end if;
    if v_is_open then
      slot := origin;
      return next;
      continue;
    end if;
    v_last := v_wall;
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
