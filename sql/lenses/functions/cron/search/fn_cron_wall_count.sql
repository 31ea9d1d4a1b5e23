-- How many wall-clock minutes in (p_from, p_until] match, as if no clock were ever turned; 0 when
-- the range is empty. By whole days, whose number is counted by weeks or by months; a range of
-- 400 years takes 4,800 steps. Minutes as in lenses.fn_cron_epoch.
create or replace function lenses.fn_cron_wall_count(
  p_spec lenses.cron_spec,
  p_from bigint,
  p_until bigint
)
returns bigint
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_rule integer := p_spec.day_rule;
  v_minutes bigint := bit_count(p_spec.minutes::bit(64));
  v_hours bigint := bit_count(p_spec.hours::bit(32));
  v_first_day bigint := p_from / 1440;
  v_last_day bigint := p_until / 1440;
  v_days bigint := 0;
  v_weeks bigint;
  v_bits bigint;
  v_date timestamp;
  v_year integer;
  v_month integer;
  v_first bigint;
  v_is_first boolean := true;
  v_is_last boolean := true;
  v_part integer;
  v_count bigint;
begin
  if p_until <= p_from then
    return 0;
  end if;

  -- the matching days in [first day, last day), and whether the two themselves match
  if v_rule = 0 then
    v_days := v_last_day - v_first_day;
  elsif v_rule = 1 then
    v_bits := p_spec.weekdays * lenses.fn_cron_six_weeks() >> ((v_first_day + 1) % 7)::int;
    v_is_first := v_bits & 1 = 1;
    v_is_last := (p_spec.weekdays >> ((v_last_day + 1) % 7)::int) & 1 = 1;
    v_weeks := (v_last_day - v_first_day) / 7;
    v_days := v_weeks * bit_count(p_spec.weekdays::bit(32)) + bit_count(
      (v_bits & ((1 << ((v_last_day - v_first_day) % 7)::int) - 1))::bit(64)
    );
  else
    v_date := date 'J0' + v_first_day::int;
    v_year := date_part('year', v_date);
    v_month := date_part('month', v_date);
    v_first := v_first_day - date_part('day', v_date)::int + 1;
    v_bits := lenses.fn_cron_month_days(p_spec, v_year, v_month, v_first);
    v_is_first := (v_bits >> (v_first_day - v_first)::int) & 1 = 1;
    v_days := -bit_count((v_bits & ((1::bigint << (v_first_day - v_first)::int) - 1))::bit(64));
    loop
      if v_last_day - v_first <= 31 then
        v_days := v_days + bit_count(
          (v_bits & ((1::bigint << (v_last_day - v_first)::int) - 1))::bit(64)
        );
        v_weeks := make_date(v_year + v_month / 12, v_month % 12 + 1, 1) - date 'J0';
        if v_last_day < v_weeks then
          v_is_last := (v_bits >> (v_last_day - v_first)::int) & 1 = 1;
          exit;
        end if;
      else
        v_days := v_days + bit_count(v_bits::bit(64));
      end if;
      v_year := v_year + v_month / 12;
      v_month := v_month % 12 + 1;
      v_first := make_date(v_year, v_month, 1) - date 'J0';
      v_bits := lenses.fn_cron_month_days(p_spec, v_year, v_month, v_first);
    end loop;
  end if;

  v_count := v_days * v_minutes * v_hours;
  if v_is_first then
    v_part := p_from % 1440;
    v_count := v_count
      - v_minutes * bit_count((p_spec.hours & ((1 << v_part / 60) - 1))::bit(32))
      - ((p_spec.hours >> v_part / 60) & 1)
      * bit_count((p_spec.minutes & ((2::bigint << v_part % 60) - 1))::bit(64));
  end if;
  if v_is_last then
    v_part := p_until % 1440;
    v_count := v_count
      + v_minutes * bit_count((p_spec.hours & ((1 << v_part / 60) - 1))::bit(32))
      + ((p_spec.hours >> v_part / 60) & 1)
      * bit_count((p_spec.minutes & ((2::bigint << v_part % 60) - 1))::bit(64));
  end if;
  return v_count;
end;
$$;
