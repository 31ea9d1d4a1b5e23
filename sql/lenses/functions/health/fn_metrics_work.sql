-- owner: lf_sql_engine
-- The part of lenses.fn_metrics that tells whether the work is done: schedules that fail, runs that
-- wait or are over, history past its retention, quotas, sizes. Columns as there. Every label comes
-- from a list in this file, so that no tenant adds a series. Of schedules that fail at most 5000
-- are looked at.
create or replace function lenses.fn_metrics_work()
returns table (name text, kind text, help text, labels jsonb, value double precision)
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
set jit = off
as $$
with failing as materialized (
  select f.cause
  from (
    select s.last_dispatch_status as cause, s as schedule
    from lenses.workflow_schedules as s
    where s.is_active
      and s.last_dispatch_status in (
        'dispatch_failed', 'validation_failed', 'condition_failed', 'budget_exceeded')
      and not exists (
        select from lensers.profiles as p where p.id = s.lenser_id and p.departed_at is not null)
    limit 5000
  ) as f
  where f.cause in ('dispatch_failed', 'condition_failed') or lenses.fn_error_stands(f.schedule)
),

usage as materialized (
  select
    max(u.schedules) as schedules, max(u.gateway_crons) as gateway_crons,
    max(u.template_bytes) as template_bytes
  from lenses.lenser_usage as u
)

select
  'schedules_failing', 'gauge', 'Active schedules whose newest slot failed, by cause',
  jsonb_build_object('cause', c.cause), (
    select count(*) from failing as f
    where f.cause = c.cause)::double precision
from (
  values ('dispatch_failed'), ('validation_failed'), ('condition_failed'), ('budget_exceeded')
) as c (cause)
union all
select
  'run_waiting_seconds', 'gauge', 'How long the run that waits longest has waited, by status',
  jsonb_build_object('status', w.status),
  greatest(
    coalesce(extract(epoch from clock_timestamp()) - extract(epoch from w.oldest), 0), 0)
from (
  select 'pending' as status, min(greatest(r.created_at, r.available_at)) as oldest
  from lenses.workflow_runs as r where r.status = 'pending'
  union all
  select 'pending_approval', min(r.created_at)
  from lenses.workflow_runs as r where r.status = 'pending_approval'
) as w
union all
select
  'runs_last_hour', 'gauge', 'Runs created in the last hour that are over, by status',
  jsonb_build_object('status', s.status), coalesce(r.n, 0)
from (values ('completed'), ('failed'), ('cancelled'), ('timed_out')) as s (status)
left join (
  select w.status, count(*) as n
  from lensers.profiles as p
  cross join lateral (
    select x.status from lenses.workflow_runs as x
    where x.lenser_id = p.id and x.created_at > now() - interval '1 hour'
  ) as w
  group by w.status
) as r on r.status = s.status
union all
select
  'retention_overdue_seconds', 'gauge',
  'How far history lies past its retention, 0 below a day, by kind',
  jsonb_build_object('history', h.history),
  coalesce(
    extract(epoch from clock_timestamp()) - extract(epoch from l.oldest)
    - extract(epoch from l.kept), 0)
from (values ('runs'), ('logs'), ('ticks')) as h (history)
left join lenses.fn_late_history() as l on l.history = h.history
union all
select
  'quota_used_ratio', 'gauge', 'What the tenant nearest to a quota has used of it, by setting',
  jsonb_build_object('quota', q.quota), coalesce(q.used, 0)::double precision / q.allowed
from lenses.dispatch_settings as d
cross join usage as u
cross join lateral (
  values
  ('max_schedules_per_lenser', d.max_schedules_per_lenser, u.schedules),
  ('max_gateway_crons_per_lenser', d.max_gateway_crons_per_lenser, u.gateway_crons),
  ('max_template_bytes_per_lenser', d.max_template_bytes_per_lenser, u.template_bytes),
  (
    'max_pending_runs_per_lenser', d.max_pending_runs_per_lenser,
    case when d.max_pending_runs_per_lenser is not null then (
      select max(w.n)
      from (
        select count(*) as n from lenses.workflow_runs as r
        where r.status in ('pending_approval', 'pending')
        group by r.lenser_id
      ) as w)
    end
  )
) as q (quota, allowed, used)
where q.allowed is not null
union all
select
  'table_bytes', 'gauge', 'Size of a table with its indexes, of those that grow',
  jsonb_build_object('table', t.name), pg_total_relation_size(t.name::regclass) + (
    select coalesce(sum(pg_total_relation_size(i.inhrelid)), 0)
    from pg_inherits as i
    where i.inhparent = t.name::regclass)
from (
  values
  ('lenses.workflow_schedules'), ('lenses.schedule_due'), ('lenses.workflow_runs'),
  ('lenses.workflow_run_events'), ('lenses.run_counts'), ('lenses.dispatch_ticks'),
  ('lenses.outbox'), ('agents.action_logs'), ('agents.gateway_cron_runs')
) as t (name)
$$;

comment on function lenses.fn_metrics_work() is
  'The samples of lenses.fn_metrics on schedules that fail, runs that wait, retention, quotas and '
  'sizes. Columns as there.';
