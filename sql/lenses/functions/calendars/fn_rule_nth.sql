-- The n-th weekday (0 is Sunday) of the month that begins at p_first; n below 0 counts from the
-- month's end. NULL where the month has no fifth.
create or replace function lenses.fn_rule_nth(p_weekday integer, p_n integer, p_first date)
returns date
language sql
immutable
set search_path = pg_catalog, pg_temp
as $$
  select d.day
  from (
    select case
      when p_n > 0 then
        p_first + (p_weekday - extract(dow from p_first)::integer + 7) % 7 + 7 * (p_n - 1)
      else m.last - (extract(dow from m.last)::integer - p_weekday + 7) % 7 + 7 * (p_n + 1)
    end as day
    from (select (p_first + interval '1 month' - interval '1 day')::date as last) as m
  ) as d
  where extract(month from d.day) = extract(month from p_first)
$$;
