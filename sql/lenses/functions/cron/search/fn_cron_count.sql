-- How many slots lie in (p_after, p_until]. Counts whole stretches between two changes of the
-- clock; the slots in a gap count as one for a fixed schedule and as none for a real-time schedule,
-- and a repeated hour counts once or twice, exactly as lenses.fn_cron_next_after_spec gives them.
create or replace function lenses.fn_cron_count(
  p_spec lenses.cron_spec,
  p_timezone text,
  p_after timestamptz,
  p_until timestamptz
)
returns bigint
language plpgsql
stable
strict
set search_path = pg_catalog, pg_temp
as $$
declare
  v_zone text := lenses.fn_timezone_of_abbreviation(p_timezone);
  v_after bigint;
  v_until bigint;
  v_turn bigint;
  v_wall bigint;
  v_end bigint;
  v_count bigint := 0;
begin
  if p_until <= p_after then
    return 0;
  elsif p_after < timestamptz '0001-01-01 00:00:00+00'
    or p_until >= timestamptz '10000-01-01 00:00:00+00' then
    raise exception using
      errcode = '22023',
      message = 'slots are counted within the years 1 to 9999';
  end if;
  if p_spec.day_rule > 7 then
    return lenses.fn_cron_count_beyond(p_spec, p_timezone, p_after, p_until);
  end if;
  v_after := floor(extract(epoch from p_after) / 60)::bigint + lenses.fn_cron_epoch();
  v_until := floor(extract(epoch from p_until) / 60)::bigint + lenses.fn_cron_epoch();
  v_wall := lenses.fn_cron_wall_minute(v_zone, v_after);
  if v_zone = 'Etc/UTC' then
    return lenses.fn_cron_wall_count(p_spec, v_wall, v_until);
  end if;

  if not p_spec.is_real_time then
    -- the latest wall minute so far; in the second pass of a repeated hour, the end of the first
    -- pass
    v_turn := lenses.fn_cron_next_transition(v_zone, v_after - 2880, v_after);
    if v_turn is not null then
      v_wall := greatest(v_wall, lenses.fn_cron_wall_minute(v_zone, v_turn - 1));
    end if;
  end if;
  loop
    v_turn := lenses.fn_cron_next_transition(v_zone, v_after, v_until);
    v_end := lenses.fn_cron_wall_minute(v_zone, coalesce(v_turn - 1, v_until));
    v_count := v_count + lenses.fn_cron_wall_count(p_spec, v_wall, v_end);
    if v_turn is null then
      return v_count;
    end if;
    v_after := v_turn;
    if p_spec.is_real_time then
      v_wall := lenses.fn_cron_wall_minute(v_zone, v_turn) - 1;
    else
      -- the minutes that the gap skips and its end together are one slot
      v_wall := greatest(v_wall, v_end);
      v_end := lenses.fn_cron_wall_minute(v_zone, v_turn);
      v_count := v_count + least(lenses.fn_cron_wall_count(p_spec, v_wall, v_end), 1);
      v_wall := greatest(v_wall, v_end);
    end if;
  end loop;
end;
$$;

comment on function lenses.fn_cron_count(lenses.cron_spec, text, timestamptz, timestamptz) is
  'The number of slots of a parsed cron expression after p_after and not after p_until, on the '
  'wall clock of p_timezone. Raises 22023 outside the years 1 to 9999.';
