-- The builder's weekdays, 0-7 or names (MON or Monday, any case), as a day-of-week field: sorted
-- numbers without doubles, three or more in a row as a range.
create or replace function lenses.fn_cron_choice_days(p_days jsonb)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_hint constant text := 'Give a list of days, such as ["MON", "FRI"] or [1, 5]: 0 to 7, where 0 '
    'and 7 are Sunday, or names.';
  v_names constant text[] :=
    '{SUNDAY,MONDAY,TUESDAY,WEDNESDAY,THURSDAY,FRIDAY,SATURDAY}';
  v_day jsonb;
  v_word text;
  v_number integer;
  v_days integer[] := '{}';
begin
  if p_days is null or jsonb_typeof(p_days) <> 'array' or jsonb_array_length(p_days) = 0 then
    perform lenses.fn_cron_refuse_choice('days', p_days, 'at least one day is needed', v_hint);
  elsif jsonb_array_length(p_days) > 100 then
    perform lenses.fn_cron_refuse_choice('days', to_jsonb(jsonb_array_length(p_days)),
      'at most 100 days', v_hint);
  end if;
  for v_day in select value from jsonb_array_elements(p_days) loop
    v_word := upper(v_day #>> '{}' collate "C");
    v_number := case
      when jsonb_typeof(v_day) = 'number' and v_word ~ '^[0-7]$' then v_word::integer % 7
      when jsonb_typeof(v_day) = 'string' then coalesce(
        array_position(v_names, v_word) - 1, lenses.fn_cron_value(5, left(v_word, 4))
      )
    end;
    if v_number is null or v_word ~ '[0-9]' and jsonb_typeof(v_day) = 'string' then
      perform lenses.fn_cron_refuse_choice('days', v_day, 'not a day of the week', v_hint);
    end if;
    v_days := v_days || v_number;
  end loop;

  return (
    with placed as (
      select day, day - row_number() over (order by day) as run
        from (select distinct day from unnest(v_days) as day) as given
    ),
    runs as (
      select min(day) as first, max(day) as last from placed group by run
    )
    select string_agg(
        case
          when first = last then first::text
          when last - first = 1 then first || ',' || last
          else first || '-' || last
        end,
        ',' order by first
      )
      from runs
  );
end;
$$;
