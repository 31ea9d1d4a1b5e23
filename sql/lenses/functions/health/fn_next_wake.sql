-- owner: lf_sql_engine
-- For a driver between two ticks: milliseconds until the next thing within the look-ahead that a
-- tick would act on, by the server's clock, so that the driver's own does not matter; NULL: nothing
-- within it. Index probes only: due schedules, ends of pauses, leases and approvals, gateway crons.
-- What is due already is not counted: the tick has just seen it.
create or replace function lenses.fn_next_wake(p_lookahead_ms integer)
returns double precision
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
select extract(epoch from min(w.wakes_at) - clock_timestamp())::double precision * 1000
from (select now() as now,
  now() + make_interval(secs => least(p_lookahead_ms, 600000) / 1000.0) as until) as t
cross join lateral (
  (
    select d.due_at from lenses.schedule_due as d
    where d.due_at > t.now and d.due_at <= t.until
    order by d.due_at limit 1
  )
  union all
  (
    select s.paused_until from lenses.workflow_schedules as s
    where s.paused_until > t.now and s.paused_until <= t.until and not s.is_active
    order by s.paused_until limit 1
  )
  union all
  (
    select r.lease_expires_at from lenses.workflow_runs as r
    where r.status = 'running' and r.lease_expires_at > t.now and r.lease_expires_at <= t.until
    order by r.lease_expires_at limit 1
  )
  union all
  (
    select r.approval_expires_at from lenses.workflow_runs as r
    where r.status = 'pending_approval' and r.approval_expires_at > t.now
      and r.approval_expires_at <= t.until
    order by r.approval_expires_at limit 1
  )
  union all
  (
    select g.next_run_at from agents.gateway_crons as g
    where g.is_active and g.next_run_at > t.now and g.next_run_at <= t.until
    order by g.next_run_at limit 1
  )
) as w (wakes_at)
$$;

comment on function lenses.fn_next_wake(integer) is
  'For lf-sql worker: milliseconds until the next instant within p_lookahead_ms (at most 600000) '
  'at which a tick has work; NULL: none.';
