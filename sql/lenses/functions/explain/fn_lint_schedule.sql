-- owner: lf_sql_engine
-- What is probably a mistake in a schedule, one row for each finding. p_schedule_id NULL: all
-- schedules of a tenant (p_lenser_id), or of all tenants. It reads rules, calendars and past runs,
-- and changes nothing.
create or replace function lenses.fn_lint_schedule(
  p_schedule_id uuid default null,
  p_lenser_id uuid default null
)
returns table (schedule_id uuid, code text, severity text, message text, hint text)
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
set timezone = 'UTC'
as $$
with chosen as materialized (
  select s.*
  from lenses.workflow_schedules as s
  where (p_schedule_id is null or s.id = p_schedule_id)
    and (p_lenser_id is null or s.lenser_id = p_lenser_id)
),

spaced as materialized (
  select c.id, n.slots, extract(epoch from d.distance) * 1000 as distance_ms
  from chosen as c
  cross join lateral (
    select array(select x from lenses.fn_next_slots(c.id, now(), 'infinity', 25) as x) as slots
  ) as n
  left join lateral (
    select min(x.slot - x.before) as distance
    from (select u as slot, lag(u) over (order by u) as before from unnest(n.slots) as u) as x
  ) as d on true
  where c.is_active or c.paused_at is not null
),

findings as (
  select c.id, 1 as place, 'clock_change' as code,
    case k.change ->> 'effect' when 'once' then 'info' when 'moved' then 'info' else 'warning' end
      as severity,
    format('at the change of the clock on %s %s', to_char(
      (k.change ->> 'at')::timestamptz at time zone c.timezone, 'FMDD Mon YYYY'),
      case k.change ->> 'effect'
        when 'skipped' then 'slots of the skipped time are lost'
        when 'doubled' then 'slots of the repeated time come twice'
        when 'moved' then 'slots of the skipped time fire right after it'
        else 'slots of the repeated time come once, the first time' end) as message,
    case when k.change ->> 'effect' in ('skipped', 'doubled')
      then format('Write %s, without a leading *, or choose UTC.', f.advice)
      else 'Choose an hour outside the change, or UTC, if that is not meant.' end as hint
  from chosen as c
  cross join unnest(array[true, false]) as w (is_forward)
  cross join lateral (
    select lenses.fn_lint_clock(c.cron_spec, c.timezone, now(), w.is_forward) as change
  ) as k
  -- What begins with * makes it real time: the minute, the hour, or both.
  cross join lateral (
    select string_agg(
      format('the %s as %s', u.name, left(regexp_replace(u.field, '^[*]', u.whole), 100)),
      ' and ' order by u.place) as advice
    from unnest(
      (regexp_split_to_array(btrim(c.cron_expr, E' \t\r\n'), E'[ \t]+'))[1:2],
      array['minute', 'hour'], array['0-59', '0-23']
    ) with ordinality as u (field, name, whole, place)
    where u.field like '*%'
  ) as f
  where c.cron_expr is not null and k.change is not null

  union all

  select c.id, 2, 'uneven_step', 'warning',
    format('%s in the %s field does not divide %s: the last distance of each %s is %s, not %s',
      k.step ->> 'item', k.step ->> 'field', k.step ->> 'round',
      case k.step ->> 'field' when 'minute' then 'hour' when 'hour' then 'day'
        when 'month' then 'year' when 'day-of-week' then 'week' else 'month' end,
      k.step ->> 'last',
      k.step ->> 'step'),
    'Choose a step that divides it, or an interval schedule for an even distance.'
  from chosen as c
  cross join lateral (select lenses.fn_lint_steps(c.cron_expr) as step) as k
  where c.cron_expr is not null and k.step is not null

  union all

  select c.id, 3, 'either_day', 'warning',
    format('both day fields are set, so either of them lets a day through: %s',
      lenses.fn_cron_describe(c.cron_expr)),
    'Let one of them begin with * (such as */1) to need both, or leave one out.'
  from chosen as c
  where (c.cron_spec).day_rule & 7 in (3, 5)

  union all

  select c.id, 4, 'rare', 'warning',
    'it fires at most once in the next four years',
    'See the next slots: lf-sql schedule preview.'
  from chosen as c
  where c.cron_expr is not null and c.end_at is null
    and coalesce(
      lenses.fn_cron_nth_after(c.cron_spec, c.timezone, now(), 2) > now() + interval '1461 days',
      true)

  union all

  select c.id, 4, 'rare', 'error',
    format('it has no slot from %s until its end at %s: it never fires',
      to_char(w.since, 'YYYY-MM-DD HH24:MI UTC'), to_char(c.end_at, 'YYYY-MM-DD HH24:MI UTC')),
    'Give it a window that holds a slot, or none.'
  from chosen as c
  cross join lateral (
    select greatest(c.start_at, date_trunc('minute', c.created_at)) as since
  ) as w
  where c.end_at is not null and c.last_run_at is null
    and lenses.fn_next_slot(
      c.cron_spec, c.timezone, c.interval_ms, c.created_at, c.start_at, c.end_at,
      w.since - interval '1 microsecond') is null

  union all

  select c.id, 5, 'calendar_ends', case k.kind when 'only_dates' then 'error' else 'warning' end,
    format('the last date of calendar %s is %s: after it %s', k.name, l.last,
      case k.kind when 'only_dates' then 'every slot is skipped' else 'no slot is skipped' end),
    'Give the calendar rules, which never run out, or add dates.'
  from chosen as c
  inner join lenses.schedule_calendars as k on k.id = c.calendar_id
  cross join lateral (
    select max(d) as last
    from lenses.fn_calendar_dates(k.id, current_date - 3660, current_date + 400) as d
  ) as l
  where l.last < current_date + 90

  union all

  select c.id, 6, 'crowded_minute', 'warning',
    format('%s of %s active schedules are due at %s as well', m.same - 1, m.total,
      to_char(c.next_run_at, 'YYYY-MM-DD HH24:MI UTC')),
    'Choose an odd minute, or give the schedules jitter.'
  from chosen as c
  cross join lateral (
    select count(*) as total, count(*) filter (
      where o.jitter_ms = 0
        and o.next_run_at >= date_trunc('minute', c.next_run_at)
        and o.next_run_at < date_trunc('minute', c.next_run_at) + interval '1 minute') as same
    from lenses.workflow_schedules as o
    where o.lenser_id = c.lenser_id and o.is_active
  ) as m
  where c.is_active and c.jitter_ms = 0 and m.same >= 10 and m.same * 10 > m.total

  union all

  select c.id, 7, 'jitter_exceeds_distance', 'warning',
    format('jitter of %s is larger than the distance of two slots, %s: slots come in bunches',
      lenses.fn_interval_period(c.jitter_ms), lenses.fn_interval_period(p.distance_ms::bigint)),
    format('Choose less than %s.', lenses.fn_interval_period(p.distance_ms::bigint / 2))
  from chosen as c
  inner join spaced as p on p.id = c.id
  where c.jitter_ms > p.distance_ms

  union all

  select c.id, 8, 'limit_always_met', 'warning',
    format('its runs take %s on average, %s slots come meanwhile and %s may run: slots will be %s',
      lenses.fn_interval_period(greatest(round(r.seconds), 1)::bigint * 1000),
      floor(r.seconds * 1000 / p.distance_ms), c.max_in_flight,
      case c.on_overlap when 'queue' then 'late' when 'replace' then 'cancelled'
        else 'skipped' end),
    'Let it fire less often, or raise maxConcurrency.'
  from chosen as c
  inner join spaced as p on p.id = c.id
  cross join lateral (
    select avg(extract(epoch from q.completed_at - q.started_at)) as seconds, count(*) as runs
    from (
      select x.completed_at, x.started_at
      from lenses.workflow_runs as x
      where x.schedule_id = c.id and x.lenser_id = c.lenser_id
        and x.created_at > now() - interval '30 days'
        and x.status = 'completed' and x.started_at is not null
      order by x.created_at desc
      limit 20
    ) as q
  ) as r
  where c.max_in_flight is not null and r.runs >= 3
    and r.seconds * 1000 > p.distance_ms * c.max_in_flight
)

select f.id, f.code, f.severity, f.message, f.hint
from findings as f
order by f.id, f.place
$$;

comment on function lenses.fn_lint_schedule(uuid, uuid) is
  'What is likely not meant about a schedule (p_schedule_id NULL: all of p_lenser_id, or of '
  'everybody): schedule_id, code (clock_change, uneven_step, either_day, rare, calendar_ends, '
  'crowded_minute, jitter_exceeds_distance, limit_always_met), severity (info, warning, error), '
  'message, hint.';
