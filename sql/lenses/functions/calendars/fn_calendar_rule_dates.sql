-- The dates from p_from through p_until that an array of calendar rules names, each once, in no
-- order. lenses.fn_check_calendar_rules describes the rules and bounds their number and depth. Each
-- rule is computed for the years or months of the range, so a single date costs microseconds a
-- rule. p_depth counts how many calendars refer to one another.
create or replace function lenses.fn_calendar_rule_dates(
  p_rules jsonb,
  p_from date,
  p_until date,
  p_depth integer default 0
)
returns setof date
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_rule jsonb;
  v_from date;
  v_until date;
  v_weekdays integer[];
  v_days date[];
  v_found date[] := '{}';
begin
  for v_rule in select r.rule from jsonb_array_elements(p_rules) as r (rule) loop
    v_from := greatest(p_from, (v_rule ->> 'from')::date);
    v_until := least(p_until, (v_rule ->> 'until')::date);
    continue when v_from > v_until;
    -- once, not for each date
    v_weekdays := case when v_rule ? 'weekdays'
      then lenses.fn_rule_weekdays(v_rule -> 'weekdays') end;
    v_days := case
      when v_rule ? 'weekdays' then array(
        select p_from + n
        from generate_series(v_from - p_from, v_until - p_from) as n
        where extract(dow from p_from + n) = any (v_weekdays))
      when v_rule ? 'month_day' then array(
        select d.day
        from generate_series(
          extract(year from v_from)::integer - 1, extract(year from v_until)::integer + 1) as y
        cross join lateral (
          select lenses.fn_rule_month_day(
            v_rule ->> 'month_day', coalesce((v_rule ->> 'observed')::boolean, false), y) as day
        ) as d
        where d.day between v_from and v_until)
      when v_rule ? 'nth' then array(
        select d.day
        from generate_series(
          date_trunc('month', v_from::timestamp), v_until::timestamp, interval '1 month') as m
        cross join lateral (
          select lenses.fn_rule_nth(
            (lenses.fn_rule_weekdays(v_rule #> '{nth,weekday}'))[1],
            (v_rule #>> '{nth,n}')::integer, m::date) as day
        ) as d
        where (not v_rule -> 'nth' ? 'month'
            or extract(month from m) = (v_rule #>> '{nth,month}')::integer)
          and d.day between v_from and v_until)
      when v_rule ?| array['easter', 'orthodox_easter'] then array(
        select d.day
        from generate_series(
          extract(year from v_from)::integer - 1, extract(year from v_until)::integer + 1) as y
        cross join lateral (
          select lenses.fn_easter(y, v_rule ? 'orthodox_easter')
            + coalesce(v_rule ->> 'easter', v_rule ->> 'orthodox_easter')::integer as day
        ) as d
        where d.day between v_from and v_until)
      else array(
        select d from lenses.fn_calendar_dates(
          (v_rule ->> 'calendar')::uuid, v_from, v_until, p_depth + 1) as d)
    end;
    if v_rule ? 'except' and v_days <> '{}' then
      v_days := array(
        select d from unnest(v_days) as d
        except
        select d from lenses.fn_calendar_rule_dates(
          v_rule -> 'except', v_from, v_until, p_depth) as d);
    end if;
    v_found := v_found || v_days;
  end loop;
  return query select distinct d from unnest(v_found) as d;
end;
$$;
