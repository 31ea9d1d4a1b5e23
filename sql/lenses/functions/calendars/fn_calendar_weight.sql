-- owner: lf_sql_engine
-- What it takes to list a calendar: one for itself, one a rule, exceptions included, one for each
-- 500 dates, and as much again for each calendar that a rule refers to, by every path. The calendar
-- p_changed_id counts as if p_changed_rules and p_changed_dates were its own.
create or replace function lenses.fn_calendar_weight(
  p_calendar_id uuid,
  p_changed_id uuid,
  p_changed_rules jsonb,
  p_changed_dates date[]
)
returns numeric
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_ids uuid[] := array[p_calendar_id];
  v_times numeric[] := array[1];
  v_weight numeric := 0;
begin
  for v_depth in 0 .. 8 loop
    select v_weight + coalesce(sum(f.times * (
      1 + c.rules + c.dates / 500)), 0)
    into v_weight
    from unnest(v_ids, v_times) as f (id, times)
    cross join lateral (
      select
        (
          select count(*) from jsonb_path_query(s.rules, 'strict $[*]')
        ) + (
          select count(*) from jsonb_path_query(s.rules, 'strict $.**.except[*]')
        ) as rules,
        cardinality(s.dates) as dates
      from (
        select p_changed_rules as rules, p_changed_dates as dates where f.id = p_changed_id
        union all
        select k.rules, k.dates from lenses.schedule_calendars as k
        where k.id = f.id and f.id <> p_changed_id
      ) as s
    ) as c;
    select array_agg(n.id), array_agg(n.times) into v_ids, v_times
    from (
      select (r.id #>> '{}')::uuid as id, sum(f.times) as times
      from unnest(v_ids, v_times) as f (id, times)
      cross join lateral (
        select p_changed_rules as rules where f.id = p_changed_id
        union all
        select k.rules from lenses.schedule_calendars as k
        where k.id = f.id and f.id <> p_changed_id
      ) as s
      cross join lateral jsonb_path_query(s.rules, 'strict $.**.calendar') as r (id)
      group by (r.id #>> '{}')::uuid
    ) as n;
    exit when v_ids is null;
  end loop;
  return v_weight;
end;
$$;
