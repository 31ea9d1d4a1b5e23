-- The first matching day from p_day on (a Julian day), within 42 years; NULL when none comes. With
-- a time zone, only days count on which the clock shows a matching minute: not those whose first
-- and last matching minute both lie in a gap, and so all between them.
-- For long searches: it asks first what each kind of month has, by length and first weekday, and
-- drops the months that never have anything. A year is then a few look-ups. Immutable as
-- timezone() is: fn_cron_wall_next, which has no zone, calls it too.
create or replace function lenses.fn_cron_far_day(
  p_spec lenses.cron_spec,
  p_timezone text,
  p_day bigint
)
returns bigint
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  c_log2_e constant float8 := 1.4426950408889634;
  v_first date := date 'J0' + p_day::int;
  v_year integer := date_part('year', v_first);
  v_month integer := date_part('month', v_first) - 1;
  v_last_year integer := v_year + 42;
  v_kinds bigint[];
  v_months integer := 0;
  v_mask integer;
  v_bits bigint;
  v_day date;
  v_from time := make_time(p_spec.first_minute / 60, p_spec.first_minute % 60, 0);
  v_until time := make_time(
    32 - position(B'1' in p_spec.hours::bit(32)),
    64 - position(B'1' in p_spec.minutes::bit(64)), 0);
begin
  for v_length in 28..31 loop
    v_mask := p_spec.months & case v_length when 31 then 2773 when 30 then 1320 else 2 end;
    continue when v_mask = 0;
    for v_weekday in 0..6 loop
      v_bits := lenses.fn_cron_item_days(p_spec, v_length, v_weekday);
      v_kinds[v_length * 7 + v_weekday] := v_bits;
      if v_bits <> 0 then
        v_months := v_months | v_mask;
      end if;
    end loop;
  end loop;
  if v_months = 0 then
    return null;
  end if;

  loop
    v_mask := v_months >> v_month;
    if v_mask <> 0 then
      v_month := v_month + 1 + (ln((v_mask & -v_mask)::float8) * c_log2_e)::int;
    else
      v_year := v_year + 1;
      if v_year > v_last_year then
        return null;
      end if;
      v_month := 1 + (ln((v_months & -v_months)::float8) * c_log2_e)::int;
    end if;
    v_first := make_date(v_year, v_month, 1);
    v_bits := v_kinds[
      ((v_first + interval '1 month')::date - v_first) * 7 + date_part('dow', v_first)::int];
    if v_first - date 'J0' < p_day then
      v_bits := v_bits & (-1::bigint << (p_day - (v_first - date 'J0'))::int);
    end if;
    while v_bits <> 0 loop
      v_day := v_first + (ln((v_bits & -v_bits)::float8) * c_log2_e)::int;
      if p_timezone is null
        or timezone(p_timezone, timezone(p_timezone, v_day + v_from)) = v_day + v_from
        or timezone(p_timezone, timezone(p_timezone, v_day + v_until)) = v_day + v_until then
        return v_day - date 'J0';
      end if;
      v_bits := v_bits & (v_bits - 1);
    end loop;
  end loop;
end;
$$;
