-- owner: lf_sql_engine
-- The kinds of history (runs, logs, ticks) of which rows lie a day or more past their retention,
-- which the nightly purge should have taken: the oldest row's time, and how long the kind is kept.
-- A run counts as the purge counts it: once it has been over for that long. Logs go by whole days
-- (UTC). One index probe for each tenant.
create or replace function lenses.fn_late_history()
returns table (history text, oldest timestamptz, kept interval)
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
set jit = off
as $$
with cut as materialized (
  select
    d.retention, d.ticks_retention, coalesce(d.logs_retention, d.retention) as logs_retention,
    clock_timestamp() - d.retention - interval '1 day' as before,
    date_trunc(
      'day', clock_timestamp() - coalesce(d.logs_retention, d.retention) - interval '1 day', 'UTC')
      as logs_before,
    clock_timestamp() - d.ticks_retention - interval '1 day' as ticks_before
  from lenses.dispatch_settings as d
)

select 'runs', min(o.created_at), min(o.retention)
from (
  select r.created_at, c.retention
  from cut as c
  cross join lensers.profiles as p
  cross join lateral (
    select w.created_at
    from lenses.workflow_runs as w
    where w.lenser_id = p.id and w.status in ('completed', 'failed', 'cancelled', 'timed_out')
      and w.created_at < c.before and w.completed_at < c.before
    order by w.created_at
    limit 1
  ) as r
) as o
having min(o.created_at) is not null
union all
select 'logs', min(o.occurred_at), min(o.logs_retention)
from (
  select l.occurred_at, c.logs_retention
  from cut as c
  cross join lensers.profiles as p
  cross join lateral (
    select a.occurred_at
    from agents.action_logs as a
    where a.lenser_id = p.id and a.occurred_at < c.logs_before
    order by a.occurred_at
    limit 1
  ) as l
) as o
having min(o.occurred_at) is not null
union all
select 'ticks', t.started_at, c.ticks_retention
from cut as c
cross join lateral (
  select x.started_at from lenses.dispatch_ticks as x
  where x.started_at < c.ticks_before
  order by x.started_at
  limit 1
) as t
$$;

comment on function lenses.fn_late_history() is
  'Kinds of history past their retention by a day or more: history (runs, logs, ticks), the oldest '
  'row''s time, how long the kind is kept. No row where the purge keeps up.';
