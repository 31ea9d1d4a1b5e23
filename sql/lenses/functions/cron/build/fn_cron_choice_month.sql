-- The builder's day of a month as the last three fields: day_of_month (1-31, or L, L-n, nW, LW), or
-- days as a list of items d#k and dL (["MON#2", "FRIL"]); the 1st where both are left out.
create or replace function lenses.fn_cron_choice_month(p_choices jsonb)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_days jsonb := p_choices -> 'days';
  v_day jsonb := p_choices -> 'day_of_month';
  v_items text[];
begin
  if v_days is null and (v_day is null or jsonb_typeof(v_day) <> 'string') then
    return lenses.fn_cron_choice(p_choices, 'day_of_month', 1, 31, 1) || ' * *';
  elsif v_days is null then
    if upper(v_day #>> '{}' collate "C")
      !~ '^(L|L-([1-9]|[12][0-9]|30)|([1-9]|[12][0-9]|3[01])W|LW)$'
    then
      perform lenses.fn_cron_refuse_choice('day_of_month', v_day, 'not a day of the month',
        'Give 1 to 31, "L" (the last day), "L-3", "15W" (the weekday nearest the 15th) or "LW".');
    end if;
    return upper(v_day #>> '{}' collate "C") || ' * *';
  elsif v_day is not null then
    perform lenses.fn_cron_refuse_choice('days', v_days, 'a monthly schedule has one kind of day',
      'Give either day_of_month or days.');
  elsif jsonb_typeof(v_days) = 'array' and jsonb_array_length(v_days) <= 100 then
    v_items := array(
      select upper(item collate "C")
      from jsonb_array_elements_text(v_days) with ordinality as d (item, place)
      order by place
    );
  end if;
  if coalesce(cardinality(v_items), 0) = 0 or exists (
    select 1 from unnest(v_items) as item
    where item ~ '^([0-7]|SUN|MON|TUE|WED|THU|FRI|SAT)(#[1-5]|L)$' is not true)
  then
    perform lenses.fn_cron_refuse_choice('days', v_days, 'not weekdays of a month',
      'Give a list such as ["MON#2"] (the second Monday) or ["FRIL"] (the last Friday).');
  end if;
  return '* * ' || array_to_string(v_items, ',');
end;
$$;
