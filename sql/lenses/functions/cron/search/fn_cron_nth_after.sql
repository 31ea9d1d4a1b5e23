-- The p_n-th slot strictly after p_after: the p_n-th of lenses.fn_cron_next, without walking there.
-- Years are skipped by lenses.fn_cron_count, then the stretches between two changes of the clock.
-- Slots that move off the closed dates of a calendar are listed, many at once.
create or replace function lenses.fn_cron_nth_after(
  p_spec lenses.cron_spec,
  p_timezone text,
  p_after timestamptz,
  p_n bigint
)
returns timestamptz
language plpgsql
stable
strict
set search_path = pg_catalog, pg_temp
as $$
declare
  v_zone text := lenses.fn_timezone_of_abbreviation(p_timezone);
  v_from timestamptz := greatest(p_after, timestamptz '0001-01-01 00:00:00+00');
  v_until timestamptz;
  v_left bigint := p_n;
  v_after bigint;
  v_wall bigint;
  v_next bigint;
  v_turn bigint;
  v_end bigint;
  v_count bigint;
begin
  if p_n < 1 then
    raise exception using
      errcode = '22023',
      column = 'n',
      message = format('the slot asked for must be the 1st or a later one, not %s', p_n);
  elsif p_n = 1 then
    return lenses.fn_cron_next_after_spec(p_spec, p_timezone, p_after);
  end if;
  if p_spec.day_rule = 8 then
    return null;
  elsif p_spec.day_rule > 7 then
    return (
      select max(s)
      from lenses.fn_cron_next_moved(p_spec, p_timezone, p_after, 'infinity', p_n) as s
      having count(*) = p_n);
  end if;
  loop
    v_until := v_from + interval '8784 hours';
    if v_until >= timestamptz '10000-01-01 00:00:00+00' then
      return null;
    end if;
    exit when v_zone = 'Etc/UTC';
    v_count := lenses.fn_cron_count(p_spec, v_zone, v_from, v_until);
    exit when v_count >= v_left;
    v_left := v_left - v_count;
    v_from := v_until;
  end loop;

  v_after := floor(extract(epoch from v_from) / 60)::bigint + lenses.fn_cron_epoch();
  v_wall := lenses.fn_cron_wall_minute(v_zone, v_after);
  if v_zone <> 'Etc/UTC' and not p_spec.is_real_time then
    v_turn := lenses.fn_cron_next_transition(v_zone, v_after - 2880, v_after);
    if v_turn is not null then
      v_wall := greatest(v_wall, lenses.fn_cron_wall_minute(v_zone, v_turn - 1));
    end if;
  end if;
  loop
    v_next := lenses.fn_cron_wall_nth(p_spec, v_wall, v_left)
      - lenses.fn_cron_wall_minute(v_zone, v_after) + v_after;
    if v_zone <> 'Etc/UTC' then
      v_turn := lenses.fn_cron_next_transition(v_zone, v_after, v_next);
    end if;
    if v_turn is null then
      return to_timestamp(((v_next - lenses.fn_cron_epoch()) * 60)::float8);
    end if;
    v_end := lenses.fn_cron_wall_minute(v_zone, v_turn - 1);
    v_left := v_left - lenses.fn_cron_wall_count(p_spec, v_wall, v_end);
    v_after := v_turn;
    if p_spec.is_real_time then
      v_wall := lenses.fn_cron_wall_minute(v_zone, v_turn) - 1;
    else
      v_wall := greatest(v_wall, v_end);
      v_end := lenses.fn_cron_wall_minute(v_zone, v_turn);
      if lenses.fn_cron_wall_count(p_spec, v_wall, v_end) > 0 then
        v_left := v_left - 1;
        if v_left = 0 then
          return to_timestamp(((v_turn - lenses.fn_cron_epoch()) * 60)::float8);
        end if;
      end if;
      v_wall := greatest(v_wall, v_end);
    end if;
  end loop;
end;
$$;

comment on function lenses.fn_cron_nth_after(lenses.cron_spec, text, timestamptz, bigint) is
  'The p_n-th slot of a parsed cron expression strictly after p_after, on the wall clock of '
  'p_timezone; NULL when it lies after the year 9999. Raises 22023 when p_n is below 1.';
