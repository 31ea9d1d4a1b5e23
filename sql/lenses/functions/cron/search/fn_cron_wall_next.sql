-- The first matching wall-clock minute after p_wall, as if no clock were ever turned; NULL when
-- none comes within 42 years. Minutes as in lenses.fn_cron_epoch.
-- lenses.fn_cron_next_after_spec holds a copy of this search: a call of a pinned function would
-- cost as much as the search itself. For the same reason fn_cron_low_bit is written out here.
create or replace function lenses.fn_cron_wall_next(p_spec lenses.cron_spec, p_wall bigint)
returns bigint
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  c_log2_e constant float8 := 1.4426950408889634;
  v_rule integer := p_spec.day_rule;
  v_day bigint := (p_wall + 1) / 1440;
  v_minute bigint := (p_wall + 1) % 1440;
  v_date timestamp;
  v_year integer;
  v_month integer;
  v_first bigint;
  v_length integer;
  v_bits bigint;
  v_mask bigint;
  v_last_year integer;
  v_is_today boolean;
begin
  if v_rule = 0 then
    v_is_today := true;
  elsif v_rule = 1 then
    v_is_today := (p_spec.weekdays >> ((v_day + 1) % 7)::int) & 1 = 1;
  else
    v_date := date 'J0' + v_day::int;
    v_year := date_part('year', v_date)::int;
    v_month := date_part('month', v_date)::int;
    v_bits := date_part('day', v_date)::int;
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

  if v_is_today then
    if (p_spec.hours >> (v_minute / 60)::int) & 1 = 1
      and p_spec.minutes >> (v_minute % 60)::int <> 0 then
      v_mask := p_spec.minutes >> (v_minute % 60)::int;
      return v_day * 1440 + v_minute + (ln((v_mask & -v_mask)::float8) * c_log2_e)::int;
    end if;
    if p_spec.hours >> (v_minute / 60 + 1)::int <> 0 then
      v_mask := p_spec.hours >> (v_minute / 60 + 1)::int;
      return v_day * 1440 + p_spec.first_minute % 60 + 60 * (
        v_minute / 60 + 1 + (ln((v_mask & -v_mask)::float8) * c_log2_e)::int
      );
    end if;
  end if;

  if v_rule = 0 then
    return (v_day + 1) * 1440 + p_spec.first_minute;
  elsif v_rule = 1 then
    v_bits := (p_spec.weekdays | (p_spec.weekdays << 7)) >> ((v_day + 2) % 7)::int;
    return (v_day + 1 + (ln((v_bits & -v_bits)::float8) * c_log2_e)::int) * 1440
      + p_spec.first_minute;
  end if;

  v_bits := v_bits >> 1;
  if v_bits <> 0 then
    return (v_day + 1 + (ln((v_bits & -v_bits)::float8) * c_log2_e)::int) * 1440
      + p_spec.first_minute;
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
        return lenses.fn_cron_far_day(p_spec, null, make_date(v_year, 1, 1) - date 'J0') * 1440
          + p_spec.first_minute;
      end if;
      v_mask := p_spec.months;
      v_month := 1 + (ln((v_mask & -v_mask)::float8) * c_log2_e)::int;
    end if;
    v_first := make_date(v_year, v_month, 1) - date 'J0';
    -- the month is one of the spec's: lenses.fn_cron_month_days without that question
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
      return (v_first + (ln((v_bits & -v_bits)::float8) * c_log2_e)::int) * 1440
      + p_spec.first_minute;
    end if;
  end loop;
end;
$$;
