-- The first slot of a stored spec strictly after p_after, or NULL when none comes within 42 years.
-- This is the dispatcher's hot path, so one call does everything: it searches the wall clock, then
-- proves that no clock is turned near the answer. The search is a copy of lenses.fn_cron_wall_next,
-- and fn_cron_low_bit and fn_cron_wall_minute are written out where every call passes, because each
-- call of a pinned function costs a tenth of the whole. Changes of a zone lie at least 3.9 days
-- apart and move the clock by a day at most, so equal offsets at both ends of 48 hours (72 for real
-- time) mean that no change lies between. Where that proof fails
-- lenses.fn_cron_next_after_transition decides by the full rule, from p_after on or, where nothing
-- comes for three days, from shortly before the first matching minute.
create or replace function lenses.fn_cron_next_after_spec(
  p_spec lenses.cron_spec,
  p_timezone text,
  p_after timestamptz
)
returns timestamptz
language plpgsql
stable
strict
set search_path = pg_catalog, pg_temp
as $$
declare
  c_log2_e constant float8 := 1.4426950408889634;
  v_zone text := p_timezone;
  v_epoch float8 := date_part('epoch', p_after);
  v_after bigint;
  v_from bigint;
  v_wall bigint;
  v_seen bigint;
  v_day bigint;
  v_minute integer;
  v_hour integer;
  v_rule integer := p_spec.day_rule;
  v_bits bigint;
  v_mask bigint;
  v_date timestamp;
  v_year integer;
  v_month integer;
  v_first bigint;
  v_length integer;
  v_last_year integer;
  v_is_today boolean := true;
begin
  if v_epoch < -62135596800 or v_epoch > 9007199254 then
    -- before the year 1 or after the year 9999
    if v_epoch < -62135596800 or v_epoch >= 253402300800 then
      return lenses.fn_cron_next_after_era(p_spec, p_timezone, p_after);
    end if;
    -- 2^53 microseconds, in 2255: after it a float8 rounds up what comes just before a minute
    v_epoch := floor(extract(epoch from p_after));
  end if;
  if v_rule > 7 then
    return lenses.fn_cron_next_beyond(p_spec, p_timezone, p_after);
  end if;
  if v_zone = 'UTC' then
    v_zone := 'Etc/UTC';
  elsif octet_length(v_zone) = 3 then
    v_zone := lenses.fn_timezone_of_abbreviation(v_zone);
  end if;
  v_after := floor(v_epoch / 60)::bigint + lenses.fn_cron_epoch();
  if v_zone = 'Etc/UTC' then
    v_from := v_after;
  else
    v_from := floor(date_part('epoch', timezone(
      v_zone, to_timestamp(((v_after - lenses.fn_cron_epoch()) * 60)::float8))) / 60)::bigint
      + lenses.fn_cron_epoch();
  end if;

  v_day := (v_from + 1) / 1440;
  v_minute := (v_from + 1) % 1440;
  if v_rule = 1 then
    v_is_today := (p_spec.weekdays >> ((v_day + 1) % 7)::int) & 1 = 1;
  elsif v_rule > 1 then
    v_date := date 'J0' + v_day::int;
    v_year := date_part('year', v_date)::int;
    v_month := date_part('month', v_date)::int;
    v_bits := date_part('day', v_date)::bigint;
    v_first := v_day - v_bits + 1;
    v_length := case
      when v_month <> 2 then 30 + (v_month + v_month / 8) % 2
      when v_year % 4 = 0 and (v_year % 100 <> 0 or v_year % 400 = 0) then 29
      else 28
    end;
    v_mask := p_spec.weekdays * lenses.fn_cron_six_weeks() >> ((v_first + 1) % 7)::int;
    v_bits := case
      when (p_spec.months >> (v_month - 1)) & 1 = 0 then 0
      when v_rule = 2 then p_spec.days & v_mask & ((1::bigint << v_length) - 1)
      when v_rule = 3 then (p_spec.days | v_mask) & ((1::bigint << v_length) - 1)
      else lenses.fn_cron_item_days(p_spec, v_length, ((v_first + 1) % 7)::int)
    end >> (v_bits - 1)::int;
    v_is_today := v_bits & 1 = 1;
  end if;

  <<search>>
  begin
    if v_is_today then
      v_hour := v_minute / 60;
      if (p_spec.hours >> v_hour) & 1 = 1 and p_spec.minutes >> v_minute % 60 <> 0 then
        v_mask := p_spec.minutes >> v_minute % 60;
        v_wall := v_from + 1 + (ln((v_mask & -v_mask)::float8) * c_log2_e)::int;
        exit search;
      end if;
      v_hour := v_hour + 1;
      if p_spec.hours >> v_hour <> 0 then
        v_mask := p_spec.hours >> v_hour;
        v_wall := v_day * 1440 + p_spec.first_minute % 60
          + (v_hour + (ln((v_mask & -v_mask)::float8) * c_log2_e)::int) * 60;
        exit search;
      end if;
    end if;

    if v_rule = 0 then
      v_wall := (v_day + 1) * 1440 + p_spec.first_minute;
      exit search;
    elsif v_rule = 1 then
      v_bits := (p_spec.weekdays | (p_spec.weekdays << 7)) >> ((v_day + 2) % 7)::int;
      v_wall := (v_day + 1 + (ln((v_bits & -v_bits)::float8) * c_log2_e)::int) * 1440
          + p_spec.first_minute;
      exit search;
    end if;

    v_bits := v_bits >> 1;
    if v_bits <> 0 then
      v_wall := (v_day + 1 + (ln((v_bits & -v_bits)::float8) * c_log2_e)::int) * 1440
          + p_spec.first_minute;
      exit search;
    end if;
    -- months take long where the days are items: the later of many are for fn_cron_far_day
    v_last_year := v_year + case
      when v_rule > 3 then (1 + 41 / bit_count(p_spec.months::bit(12)) ^ 2)::int
      else 42
    end;
    loop
      if p_spec.months >> v_month <> 0 then
        v_mask := p_spec.months >> v_month;
        v_month := v_month + 1 + (ln((v_mask & -v_mask)::float8) * c_log2_e)::int;
      else
        v_year := v_year + 1;
        if v_year > v_last_year then
          v_day := lenses.fn_cron_far_day(
            p_spec, case when p_spec.is_real_time then v_zone end,
            make_date(v_year, 1, 1) - date 'J0');
          if (v_day <= v_from / 1440 + 15340) is not true then  -- 42 years
            return null;
          end if;
          v_wall := v_day * 1440 + p_spec.first_minute;
          exit search;
        end if;
        v_mask := p_spec.months;
        v_month := 1 + (ln((v_mask & -v_mask)::float8) * c_log2_e)::int;
      end if;
      v_first := make_date(v_year, v_month, 1) - date 'J0';
      v_length := case
        when v_month <> 2 then 30 + (v_month + v_month / 8) % 2
        when v_year % 4 = 0 and (v_year % 100 <> 0 or v_year % 400 = 0) then 29
        else 28
      end;
      v_mask := p_spec.weekdays * lenses.fn_cron_six_weeks() >> ((v_first + 1) % 7)::int;
      v_bits := case v_rule
        when 2 then p_spec.days & v_mask & ((1::bigint << v_length) - 1)
        when 3 then (p_spec.days | v_mask) & ((1::bigint << v_length) - 1)
        else lenses.fn_cron_item_days(p_spec, v_length, ((v_first + 1) % 7)::int)
      end;
      if v_bits <> 0 then
        v_wall := (v_first + (ln((v_bits & -v_bits)::float8) * c_log2_e)::int) * 1440
          + p_spec.first_minute;
        exit search;
      end if;
    end loop;
  end;

  v_after := v_after + v_wall - v_from;
  if v_zone = 'Etc/UTC' then
    return to_timestamp(((v_after - lenses.fn_cron_epoch()) * 60)::float8);
  end if;
  v_seen := floor(date_part('epoch', timezone(
    v_zone, to_timestamp(((v_after - lenses.fn_cron_epoch()) * 60)::float8))) / 60)::bigint
    + lenses.fn_cron_epoch();
  if v_wall - v_from <= 4320 then
    if v_seen = v_wall and (
      p_spec.is_real_time
      or floor(date_part('epoch', timezone(
        v_zone, to_timestamp(((v_after - (lenses.fn_cron_epoch() + 2880)) * 60)::float8)))
        / 60)::bigint = v_wall - (lenses.fn_cron_epoch() + 2880)
    ) then
      return to_timestamp(((v_after - lenses.fn_cron_epoch()) * 60)::float8);
    end if;
  elsif not p_spec.is_real_time
    or lenses.fn_cron_wall_minute(v_zone, v_after - v_wall + v_from + 2880) = v_from + 2880
    or lenses.fn_cron_wall_count(p_spec, v_from - 1440, v_from) = 0  -- none to be repeated
  then
    if v_seen <> v_wall then
      v_after := v_after + v_wall - v_seen;
      v_seen := lenses.fn_cron_wall_minute(v_zone, v_after);
    end if;
    if v_seen = v_wall
      and lenses.fn_cron_wall_minute(v_zone, v_after - 2880) = v_wall - 2880 then
      return to_timestamp(((v_after - lenses.fn_cron_epoch()) * 60)::float8);
    end if;
    return (
      select s.slot
      from lenses.fn_cron_next_after_transition(p_spec, v_zone, greatest(
        p_after, to_timestamp(((v_after - (lenses.fn_cron_epoch() + 2880)) * 60)::float8)
      )) as s (slot)
      where s.slot <= p_after + interval '368160 hours'  -- 42 years
    );
  end if;
  return lenses.fn_cron_next_after_transition(p_spec, v_zone, p_after);
end;
$$;

comment on function lenses.fn_cron_next_after_spec(lenses.cron_spec, text, timestamptz) is
  'The first slot of a parsed cron expression strictly after p_after, on the wall clock of '
  'p_timezone (a zone name the server knows, else 22023). NULL when none comes within 42 years '
  'or p_after lies after the year 9999.';
