-- The date of a month_day rule ("12-25") in a year; NULL where the year has no 29 February.
-- Observed as US federal holidays are: a Saturday on the Friday before, a Sunday on the Monday
-- after, so that the date may lie in the year before. Source: 5 U.S.C. 6103 (b), Executive Order
-- 11582.
create or replace function lenses.fn_rule_month_day(
  p_month_day text,
  p_is_observed boolean,
  p_year integer
)
returns date
language sql
immutable
set search_path = pg_catalog, pg_temp
as $$
  select d.day + case
    when not p_is_observed then 0
    else case extract(isodow from d.day) when 6 then -1 when 7 then 1 else 0 end end
  from (
    select case
      when p_month_day = '02-29'
        and not (p_year % 4 = 0 and (p_year % 100 <> 0 or p_year % 400 = 0)) then null
      else make_date(p_year, left(p_month_day, 2)::integer, right(p_month_day, 2)::integer)
    end as day
  ) as d
$$;
