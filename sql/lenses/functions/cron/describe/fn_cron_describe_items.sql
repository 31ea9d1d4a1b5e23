-- The days of a spec with day items (day_rule 4 or 5) in English; p_in is its months (" in March",
-- "" for all). Each day is named on its own: "the 1st, the 15th and the last day".
create or replace function lenses.fn_cron_describe_items(p_spec lenses.cron_spec, p_in text)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  c_all_days constant bigint := (1::bigint << 31) - 1;
  c_all_weekdays constant integer := 127;
  -- Monday first, so that weekends stay together
  c_names constant text[] := '{Monday,Tuesday,Wednesday,Thursday,Friday,Saturday,Sunday}';
  c_ordinals constant text[] := array(
    select lenses.fn_cron_say_ordinal(number) from generate_series(1, 31) as number);
  v_plain integer[] := lenses.fn_cron_values(p_spec.days);
  v_step integer := lenses.fn_cron_step(v_plain);
  v_of text := case
    when p_in = '' then ' of every month'
    when p_in like ' from %' then ' of each month' || p_in
    else ' of' || substr(p_in, 4)
  end;
  v_days text[];
  v_nth text[];
  v_weekdays text[];
begin
  v_days := case
    when cardinality(v_plain) > 8 and v_step > 1 then array[format(
      'every %s day from the %s through the %s', c_ordinals[v_step], c_ordinals[v_plain[1] + 1],
      c_ordinals[v_plain[cardinality(v_plain)] + 1])]
    else array(
      select 'the ' || word from unnest(lenses.fn_cron_say_runs(v_plain, c_ordinals)) as word)
  end || array(
    select 'the weekday nearest the ' || c_ordinals[day + 1]
    from unnest(lenses.fn_cron_values(p_spec.near_days & c_all_days)) as day
    union all
    select case place
      when 30 then 'the last day'
      when 29 then 'the day before the last day'
      else format('the day %s days before the last day', 30 - place) end
    from unnest(lenses.fn_cron_values(p_spec.last_days)) as place
    union all
    select 'the last weekday' where p_spec.near_days >> 31 = 1
  );
  v_nth := array(
    select format(
      'the %s %s', case when place < 35 then c_ordinals[place / 7 + 1] else 'last' end,
      c_names[(place + 6) % 7 + 1])
    from unnest(lenses.fn_cron_values(p_spec.nth_weekdays)) as place
  );
  v_weekdays := lenses.fn_cron_say_runs(
    lenses.fn_cron_values((p_spec.weekdays >> 1) | ((p_spec.weekdays & 1) << 6)), c_names);

  if p_spec.weekdays = c_all_weekdays then
    return 'on ' || lenses.fn_cron_say_list(v_days) || v_of;
  elsif p_spec.day_rule = 4 and p_spec.days <> c_all_days then
    return 'on ' || lenses.fn_cron_say_list(v_days) || v_of || ', but only if it is also '
      || lenses.fn_cron_say_list(array(
        select case when word like '% through %' then 'one of ' else 'a ' end || word
        from unnest(v_weekdays) as word
      ) || v_nth, 'or');
  end if;
  return case
    when p_spec.day_rule = 5 then 'on ' || lenses.fn_cron_say_list(v_days) || v_of || ' and also '
    else ''
  end || 'on ' || lenses.fn_cron_say_list(array(
    select case when word like '% through %' then '' else 'every ' end || word
    from unnest(v_weekdays) as word
  ) || v_nth) || v_of;
end;
$$;
