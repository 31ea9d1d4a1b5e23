-- Whether a spec with day items has a day in any of its months: a month of each length begins with
-- each weekday in some year.
create or replace function lenses.fn_cron_items_come(p_spec lenses.cron_spec)
returns boolean
language sql
immutable
set search_path = pg_catalog, pg_temp
as $$
  select exists (
    select 1
    -- masks of the months that have as many days; February has 28 or 29
    from (values (31, 2773), (30, 1320), (29, 2), (28, 2)) as m (length, months)
    cross join generate_series(0, 6) as weekday
    where p_spec.months & m.months <> 0
      and lenses.fn_cron_item_days(p_spec, m.length, weekday) <> 0
  )
$$;
