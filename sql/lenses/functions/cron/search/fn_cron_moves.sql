-- The slots of a spec's expression in (p_from, p_until], each with where it goes. A slot on an open
-- date of the spec's calendar stays. Any other moves, at its wall-clock minute, to the nearest open
-- date within 31 days, after or before it by day_rule. Where there is none it stays, and the
-- calendar skips it. Dates are those of the calendar's own zone. Where the end of a gap stands for
-- the minutes that the gap skipped, those minutes move.
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
