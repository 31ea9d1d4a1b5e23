-- The days of one month that match a spec, as a mask with bit 0 for the first day.
-- p_first is the Julian day of the month's first day.
create or replace function lenses.fn_cron_month_days(
  p_spec lenses.cron_spec,
  p_year integer,
  p_month integer,
  p_first bigint
)
returns bigint
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return case
    when (p_spec.months >> (p_month - 1)) & 1 = 0 then 0
    when p_spec.day_rule = 2 then
      p_spec.days & (p_spec.weekdays * lenses.fn_cron_six_weeks() >> ((p_first + 1) % 7)::int)
      & ((1::bigint << (
        case
          when p_month <> 2 then 30 + (p_month + p_month / 8) % 2
          when p_year % 4 = 0 and (p_year % 100 <> 0 or p_year % 400 = 0) then 29
          else 28
        end
      )) - 1)
    when p_spec.day_rule = 3 then
      (p_spec.days | (p_spec.weekdays * lenses.fn_cron_six_weeks() >> ((p_first + 1) % 7)::int))
      & ((1::bigint << (
        case
          when p_month <> 2 then 30 + (p_month + p_month / 8) % 2
          when p_year % 4 = 0 and (p_year % 100 <> 0 or p_year % 400 = 0) then 29
          else 28
        end
      )) - 1)
    else lenses.fn_cron_item_days(
      p_spec,
      case
        when p_month <> 2 then 30 + (p_month + p_month / 8) % 2
        when p_year % 4 = 0 and (p_year % 100 <> 0 or p_year % 400 = 0) then 29
        else 28
      end,
      ((p_first + 1) % 7)::int
    )
  end;
end;
$$;
