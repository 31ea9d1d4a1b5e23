-- Each date from p_from to p_until: whether a calendar had it open before a change, and has it open
-- after.
create or replace function lenses.fn_calendar_changes(
  p_old lenses.schedule_calendars,
  p_new lenses.schedule_calendars,
  p_from date,
  p_until date
)
returns table (day date, was_open boolean, is_open boolean)
language sql
stable
set search_path = pg_catalog, pg_temp
as $$
select
  x.day,
  (x.day = any (o.dates)) is distinct from (p_old.kind = 'skip_dates'),
  (x.day = any (n.dates)) is distinct from (p_new.kind = 'skip_dates')
from (select p_from + g as day from generate_series(0, p_until - p_from) as g) as x
cross join (
  select p_old.dates || array(
    select lenses.fn_calendar_rule_dates(p_old.rules, p_from, p_until)) as dates
) as o
cross join (
  select p_new.dates || array(
    select lenses.fn_calendar_rule_dates(p_new.rules, p_from, p_until)) as dates
) as n
$$;
