-- The days of a month that match a spec, as a mask with bit 0 for the first day. The month is given
-- by its length and the weekday of its first day (0 is Sunday), which is all that decides. The
-- months of the spec are not asked. The searches write it out where no day is an item (day_rule
-- below 4).
-- Of a week that is repeated six times, a shift gives the weekdays from the first day on; the k-th
-- weekday of a month lies within its k-th seven days, the last one within its last seven.
create or replace function lenses.fn_cron_item_days(
  p_spec lenses.cron_spec,
  p_length integer,
  p_weekday integer
)
returns bigint
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  c_weeks constant bigint := lenses.fn_cron_six_weeks();
  v_all bigint := (1::bigint << p_length) - 1;
  v_last bigint := 1::bigint << (p_length - 1);
  v_near bigint := coalesce(p_spec.near_days, 0);
  v_nth bigint := coalesce(p_spec.nth_weekdays, 0);
  v_saturdays bigint := (64 * c_weeks) >> p_weekday;
  v_sundays bigint := c_weeks >> p_weekday;
  v_days bigint := p_spec.days | (coalesce(p_spec.last_days, 0)::bigint >> (31 - p_length));
  v_weekdays bigint := (p_spec.weekdays * c_weeks) >> p_weekday;
begin
  if v_near <> 0 then
    -- LW is the weekday nearest to the last day
    v_near := (v_near & v_all) | case when v_near >> 31 = 1 then v_last else 0 end;
    v_days := v_days
      | (v_near & ~(v_saturdays | v_sundays))
      | ((v_near & v_saturdays) >> 1) | ((v_near & v_saturdays & 1) << 2)
      | ((v_near & v_sundays & ~v_last) << 1) | ((v_near & v_sundays & v_last) >> 2);
  end if;
  if v_nth <> 0 then
    v_weekdays := v_weekdays
      | ((((v_nth & 127) * c_weeks) >> p_weekday) & 127)
      | (((((v_nth >> 7) & 127) * c_weeks) >> p_weekday) & (127::bigint << 7))
      | (((((v_nth >> 14) & 127) * c_weeks) >> p_weekday) & (127::bigint << 14))
      | (((((v_nth >> 21) & 127) * c_weeks) >> p_weekday) & (127::bigint << 21))
      | (((((v_nth >> 28) & 127) * c_weeks) >> p_weekday) & (127::bigint << 28))
      | ((((v_nth >> 35) * c_weeks) >> p_weekday) & (127::bigint << (p_length - 7)));
  end if;
  return v_all
    & case when p_spec.day_rule in (3, 5) then v_days | v_weekdays else v_days & v_weekdays end;
end;
$$;
