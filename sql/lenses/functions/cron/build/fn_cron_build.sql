-- Makes a cron expression from the visual builder's choices. Minute and hour default to 0,
-- day_of_month to 1. A choice that the frequency cannot use is refused, so that the expression
-- contains every choice.
create or replace function lenses.fn_cron_build(p jsonb)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_given jsonb := case when jsonb_typeof(p) = 'object' then jsonb_strip_nulls(p) end;
  v_frequency text := v_given ->> 'frequency';
  v_known text[] := case v_frequency
    when 'hourly' then '{frequency,minute}'::text[]
    when 'daily' then '{frequency,minute,hour}'::text[]
    when 'weekly' then '{frequency,minute,hour,days}'::text[]
    when 'monthly' then '{frequency,minute,hour,day_of_month,days}'::text[]
  end;
  v_extra text;
  v_minute integer;
  v_hour integer;
begin
  if v_given is null then
    perform lenses.fn_cron_refuse_choice('choices', p, 'expected an object',
      'Give an object such as {"frequency": "daily", "hour": 9, "minute": 30}.');
  elsif v_known is null then
    perform lenses.fn_cron_refuse_choice('frequency', v_given -> 'frequency', 'unknown',
      'The frequency is "hourly", "daily", "weekly" or "monthly".');
  end if;
  select key into v_extra
    from jsonb_object_keys(v_given) as key
    where key <> all (v_known)
    order by key
    limit 1;
  if v_extra is not null then
    perform lenses.fn_cron_refuse_choice(v_extra, v_given -> v_extra,
      format('not a choice of a %s schedule', v_frequency),
      format('A %s schedule takes %s.', v_frequency, array_to_string(v_known, ', ')));
  end if;

  v_minute := lenses.fn_cron_choice(v_given, 'minute', 0, 59, 0);
  if v_frequency = 'hourly' then
    return v_minute || ' * * * *';
  end if;
  v_hour := lenses.fn_cron_choice(v_given, 'hour', 0, 23, 0);
  return v_minute || ' ' || v_hour || case v_frequency
    when 'daily' then ' * * *'
    when 'weekly' then ' * * ' || lenses.fn_cron_choice_days(v_given -> 'days')
    else ' ' || lenses.fn_cron_choice_month(v_given)
  end;
end;
$$;

comment on function lenses.fn_cron_build(jsonb) is
  'A cron expression from {"frequency": "hourly|daily|weekly|monthly", "minute", "hour", "days", '
  '"day_of_month"}; days are 0-7 or names for weekly, items such as FRI#2 or FRIL for monthly; '
  'day_of_month is 1-31, L, L-n, nW or LW. Raises 22023 for any other choice.';
