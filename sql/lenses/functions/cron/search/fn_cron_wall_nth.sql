-- The p_n-th matching wall-clock minute after p_wall, as if no clock were ever turned; NULL when
-- it lies after the year 10000. By whole days, counted by weeks or by months.
-- Minutes as in lenses.fn_cron_epoch.
create or replace function lenses.fn_cron_wall_nth(
  p_spec lenses.cron_spec,
  p_wall bigint,
  p_n bigint
)
returns bigint
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_rule integer := p_spec.day_rule;
  v_minutes bigint := bit_count(p_spec.minutes::bit(64));
  v_per_day bigint := v_minutes * bit_count(p_spec.hours::bit(32));
  v_day bigint := p_wall / 1440;
  v_left bigint;
  v_days bigint;
  v_per_week bigint;
  v_bits bigint;
  v_date timestamp;
  v_year integer;
  v_month integer;
  v_minute bigint;
begin
  -- counted from the start of today: the p_n-th after p_wall is the (v_left + 1)-th
  v_left := p_n - 1 + lenses.fn_cron_wall_count(p_spec, v_day * 1440 - 1, p_wall);
  v_days := v_left / v_per_day;
  v_left := v_left % v_per_day;

  -- the matching day with v_days matching days before it, from today on
  if v_rule = 0 then
    v_day := v_day + v_days;
  elsif v_rule = 1 then
    v_per_week := bit_count(p_spec.weekdays::bit(32));
    v_bits := (p_spec.weekdays * lenses.fn_cron_six_weeks() >> ((v_day + 1) % 7)::int) & 127;
    v_day := v_day + v_days / v_per_week * 7;
    v_days := v_days % v_per_week;
  else
    v_date := date 'J0' + v_day::int;
    v_year := date_part('year', v_date);
    v_month := date_part('month', v_date);
    v_bits := date_part('day', v_date);
    v_day := v_day - v_bits + 1;
    v_bits := lenses.fn_cron_month_days(p_spec, v_year, v_month, v_day)
      & (-1::bigint << (v_bits - 1)::int);
    while v_days >= bit_count(v_bits::bit(64)) loop
      v_days := v_days - bit_count(v_bits::bit(64));
      v_year := v_year + v_month / 12;
      if v_year > 10000 then
        return null;
      end if;
      v_month := v_month % 12 + 1;
      v_day := make_date(v_year, v_month, 1) - date 'J0';
      v_bits := lenses.fn_cron_month_days(p_spec, v_year, v_month, v_day);
    end loop;
  end if;
  if v_rule > 0 then
    for v_i in 1..v_days loop
      v_bits := v_bits & (v_bits - 1);
    end loop;
    v_day := v_day + lenses.fn_cron_low_bit(v_bits);
  end if;

  v_bits := p_spec.hours;
  for v_i in 1..v_left / v_minutes loop
    v_bits := v_bits & (v_bits - 1);
  end loop;
  v_minute := lenses.fn_cron_low_bit(v_bits) * 60;
  v_bits := p_spec.minutes;
  for v_i in 1..v_left % v_minutes loop
    v_bits := v_bits & (v_bits - 1);
  end loop;
  return v_day * 1440 + v_minute + lenses.fn_cron_low_bit(v_bits);
end;
$$;
