-- The days and months of a spec in English, without a leading comma; every day is "every day".
-- Days and weekdays that must both match: "only if it is also a ..."; either of them: "and also".
create or replace function lenses.fn_cron_describe_days(p_spec lenses.cron_spec)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  c_all_months constant integer := (1 << 12) - 1;
  c_all_weekdays constant integer := 127;
  c_of_31_days constant integer := 2773;  -- 1, 3, 5, 7, 8, 10 and 12: January, March and so on
  c_of_30_days constant integer := 1320;  -- 4, 6, 9 and 11
  -- the days that one of the months has
  v_most constant bigint := case
    when p_spec.months & c_of_31_days <> 0 then (1::bigint << 31) - 1
    when p_spec.months & c_of_30_days <> 0 then (1::bigint << 30) - 1
    else (1::bigint << 29) - 1
  end;
  v_all_days constant boolean := p_spec.days & v_most = v_most;
  v_days integer[] := lenses.fn_cron_values(p_spec.days & v_most);
  v_months integer[] := lenses.fn_cron_values(p_spec.months);
  -- Monday first, so that weekends stay together
  v_weekdays integer[] := lenses.fn_cron_values(
    (p_spec.weekdays >> 1) | ((p_spec.weekdays & 1) << 6)
  );
  v_day_count integer := cardinality(v_days);
  v_weekday_count integer := cardinality(v_weekdays);
  v_day_step integer := lenses.fn_cron_step(v_days);
  v_is_week_row boolean := v_weekday_count > 2 and lenses.fn_cron_step(v_weekdays) = 1;
  v_is_year_row boolean := cardinality(v_months) > 2 and lenses.fn_cron_step(v_months) = 1;
  v_month_names text := lenses.fn_cron_say_values(v_months,
    '{January,February,March,April,May,June,July,August,September,October,November,December}');
  v_names constant text[] := '{Monday,Tuesday,Wednesday,Thursday,Friday,Saturday,Sunday}';
  v_in text := case
    when p_spec.months = c_all_months then ''
    when v_is_year_row then ' from ' || v_month_names
    else ' in ' || v_month_names
  end;
  v_dates text;
begin
  if p_spec.day_rule > 3 then
    return lenses.fn_cron_describe_items(p_spec, v_in);
  elsif v_all_days and (p_spec.weekdays = c_all_weekdays or p_spec.day_rule = 3) then
    return 'every day' || v_in;
  elsif v_all_days or v_day_count = 0 then
    return case
      when v_is_week_row then lenses.fn_cron_say_values(v_weekdays, v_names)
      else 'on ' || lenses.fn_cron_say_values(
        v_weekdays, '{Mondays,Tuesdays,Wednesdays,Thursdays,Fridays,Saturdays,Sundays}'
      )
    end || v_in;
  end if;

  v_dates := case
    when v_day_count = 1 and cardinality(v_months) = 1 then
      'on ' || (v_days[1] + 1) || ' ' || v_month_names
    else
      'on ' || case
        when v_day_count > 8 and v_day_step > 1 then
          format(
            'every %s day from the %s through the %s',
            lenses.fn_cron_say_ordinal(v_day_step), lenses.fn_cron_say_ordinal(v_days[1] + 1),
            lenses.fn_cron_say_ordinal(v_days[v_day_count] + 1)
          )
        else 'the ' || lenses.fn_cron_say_values(
          v_days,
          '{1st,2nd,3rd,4th,5th,6th,7th,8th,9th,10th,11th,12th,13th,14th,15th,16th,17th,18th,19th,'
          '20th,21st,22nd,23rd,24th,25th,26th,27th,28th,29th,30th,31st}'
        )
      end
      || ' of ' || case
        when p_spec.months = c_all_months then 'every month'
        when v_is_year_row then 'each month from ' || v_month_names
        else v_month_names
      end
  end;
  if p_spec.weekdays = c_all_weekdays then
    return v_dates;
  elsif p_spec.day_rule = 3 then
    return v_dates || ' and also ' || case
      when v_is_week_row then lenses.fn_cron_say_values(v_weekdays, v_names)
      else 'on every ' || lenses.fn_cron_say_values(v_weekdays, v_names)
    end || v_in;
  end if;
  return v_dates || ', but only if it is also ' || case
    when v_is_week_row then 'one of ' || lenses.fn_cron_say_values(v_weekdays, v_names)
    else 'a ' || lenses.fn_cron_say_list(
      array(select v_names[weekday + 1] from unnest(v_weekdays) as weekday), 'or'
    )
  end;
end;
$$;
