-- The minutes and hours of a spec in English. "Every ..." and "of every hour" mean real time, for
-- sets that people usually write with a star; "At ..." means the wall clock. All other sentences
-- say what a change of the clock does. So two specs that differ never read the same.
create or replace function lenses.fn_cron_describe_time(p_spec lenses.cron_spec)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_minutes integer[] := lenses.fn_cron_values(p_spec.minutes);
  v_hours integer[] := lenses.fn_cron_values(p_spec.hours);
  v_minute_count integer := cardinality(v_minutes);
  v_hour_count integer := cardinality(v_hours);
  v_minute_step integer := lenses.fn_cron_step(v_minutes);
  v_hour_step integer := lenses.fn_cron_step(v_hours);
  v_first text := lenses.fn_cron_say_clock(v_hours[1] * 60 + v_minutes[1]);
  v_last text := lenses.fn_cron_say_clock(
    v_hours[v_hour_count] * 60 + v_minutes[v_minute_count]
  );
  -- the same distance all round the clock
  v_is_even boolean := coalesce(v_minute_step * v_minute_count = 60, false);
  v_is_hour_even boolean := coalesce(v_hour_step * v_hour_count = 24, false);
  v_is_row boolean := v_hour_count = 1 or v_hour_step = 1;
  v_is_starred boolean := lenses.fn_cron_is_starred(v_minutes, v_hours);
  v_words constant text[] := '{0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,'
    '26,27,28,29,30,31,32,33,34,35,36,37,38,39,40,41,42,43,44,45,46,47,48,49,50,51,52,53,54,55,56,'
    '57,58,59}';
  v_every text;
  v_listed text;
  v_during text;
begin
  v_every := case v_minute_step when 1 then 'Every minute' else
    'Every ' || v_minute_step || ' minutes' end;
  v_listed := 'At ' || case
    when v_minute_count > 12 and v_minute_step > 1 then
      'every ' || lenses.fn_cron_say_ordinal(v_minute_step) || ' minute from ' || v_minutes[1]
      || ' through ' || v_minutes[v_minute_count]
    else
      case v_minute_count when 1 then 'minute ' else 'minutes ' end
      || lenses.fn_cron_say_values(v_minutes, v_words)
  end;
  v_during := case v_hour_count when 1 then ' of the hour ' else ' of the hours ' end
    || lenses.fn_cron_say_values(v_hours, '{00,01,02,03,04,05,06,07,08,09}' || v_words[11:24]);

  if v_is_starred and p_spec.is_real_time then
    if v_hour_count = 24 then
      return case
        when v_is_even and v_minutes[1] = 0 then v_every
        when v_minutes = '{0}' then 'Every hour, on the hour'
        else v_listed || ' of every hour'
      end;
    elsif v_is_even and v_minutes[1] = 0 and v_is_row then
      return v_every || ' from ' || v_first || ' through ' || v_last;
    elsif v_is_hour_even and v_hours[1] = 0 and v_minute_count = 1 then
      return 'Every ' || v_hour_step || ' hours from ' || v_first || ' through ' || v_last;
    elsif v_is_hour_even and v_hours[1] = 0 then
      v_during := ' of every ' || lenses.fn_cron_say_ordinal(v_hour_step) || ' hour from '
        || left(v_first, 2) || ' through ' || left(v_last, 2);
    end if;
    return case
      when v_is_even and v_minutes[1] = 0 then v_every
      else v_listed
    end || v_during;
  end if;

  return case
    when v_is_starred and v_minute_count * v_hour_count > 6 then
      v_listed || v_during
    when not v_is_starred and v_minute_count = 1 and v_hour_step = 1 and v_hour_count > 3 then
      'Every hour from ' || v_first || ' through ' || v_last
    when not v_is_starred and v_minute_count > 3 and v_hour_count = 1 and v_minute_step > 0 then
      v_every || ' from ' || v_first || ' through ' || v_last
    when v_minute_count * v_hour_count <= 6 then
      'At ' || lenses.fn_cron_say_list(array(
        select lenses.fn_cron_say_clock(hour * 60 + minute)
          from unnest(v_hours) as hour, unnest(v_minutes) as minute
          order by hour, minute
      ))
    when v_minute_count = 1 and v_hour_step > 1 then
      'Every ' || v_hour_step || ' hours from ' || v_first || ' through ' || v_last
    when v_is_even and v_is_row then
      v_every || ' from ' || v_first || ' through ' || v_last
    else
      v_listed || v_during
  end;
end;
$$;
