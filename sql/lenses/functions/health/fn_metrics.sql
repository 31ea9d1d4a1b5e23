-- owner: lf_sql_engine
-- The figures of lf-sql metrics, one sample a row. Counters add up the ticks that are kept and the
-- sums of purged ones, so they never go back. Partial indexes count what is in flight.
create or replace function lenses.fn_metrics()
returns table (name text, kind text, help text, labels jsonb, value double precision)
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
set jit = off
as $$
with ticks as materialized (
  select
    count(*) as ticks, sum(t.dispatched) as dispatched, sum(t.deferred) as deferred,
    sum(t.failed) as failed,
    max(t.started_at) as last_at, array_agg(t.lag) filter (where t.lag <> '{}') as lags
  from lenses.dispatch_ticks as t
),

totals as materialized (
  select
    o.ticks + k.ticks as ticks,
    o.dispatched + coalesce(k.dispatched, 0) as dispatched,
    o.deferred + coalesce(k.deferred, 0) as deferred,
    o.failed + coalesce(k.failed, 0) as failed,
    lenses.fn_sum_lags(array[o.lag] || coalesce(k.lags, '{}')) as lag,
    k.last_at
  from lenses.dispatch_totals as o
  cross join ticks as k
),

reasons (reason) as (
  values ('workflow_not_active'), ('calendar'), ('condition_failed'), ('assignee_missing'),
    ('budget_exceeded'),
  ('overlap_in_flight'), ('cycle_detected'), ('schedule_slot_exists'), ('missed'),
  ('workflow_missing'), ('version_missing'), ('assignment_missing'), ('calendar_missing')
),

skips as materialized (
  select e.reason, sum(e.total) as total
  from (
    select r.reason, 0::bigint as total from reasons as r
    union all
    select s.key, s.value::bigint
    from lenses.dispatch_totals as o
    cross join lateral jsonb_each_text(o.skipped) as s
    union all
    select s.key, s.value::bigint
    from lenses.dispatch_ticks as t
    cross join lateral jsonb_each_text(t.skipped) as s
    where t.skipped <> '{}'
  ) as e
  group by e.reason
),

due as materialized (
  select count(*) as n, min(d.due_at) as oldest from lenses.schedule_due as d
  where d.due_at <= clock_timestamp()
),

bounds (bound) as (
  values ('50'), ('100'), ('250'), ('500'), ('1000'), ('2500'), ('5000'), ('10000'), ('30000'),
    ('60000'), ('300000'),
  ('3600000')
)

select 'schedules_due', 'gauge', 'Schedules whose due time has come', '{}'::jsonb,
  d.n::double precision from due as d
union all
select 'backlog_seconds', 'gauge', 'How long the oldest due schedule has been due', '{}',
  coalesce(extract(epoch from clock_timestamp()) - extract(epoch from d.oldest),
    0)::double precision from due as d
union all
select 'schedules', 'gauge', 'Schedules by status', jsonb_build_object('status', s.status), s.n
from (
  select
    case when w.is_active then 'enabled' when w.paused_at is null then 'disabled'
      else 'paused' end as status,
    count(*) as n
  from lenses.workflow_schedules as w
  inner join lensers.profiles as p on p.id = w.lenser_id and p.departed_at is null
  group by 1
) as s
union all
select 'runs_emitted', 'counter', 'Runs that ticks have inserted', '{}', t.dispatched
from totals as t
union all
select 'runs_skipped_overlap', 'counter', 'Slots skipped because a run was in flight', '{}', s.total
from skips as s where s.reason = 'overlap_in_flight'
union all
select 'runs_skipped', 'counter', 'Slots skipped, by reason',
  jsonb_build_object('reason', s.reason), s.total
from skips as s
union all
select 'runs_deferred', 'counter', 'Times that a slot was put off', '{}', t.deferred
from totals as t
union all
select 'runs_failed_launch', 'counter', 'Dispatches that failed', '{}', t.failed from totals as t
union all
select 'runs_in_flight', 'gauge', 'Runs by status', jsonb_build_object('status', r.status), r.n
from (
  select 'pending' as status, count(*) as n from lenses.workflow_runs as w
  where w.status = 'pending'
  union all
  select 'running', count(*) from lenses.workflow_runs as w where w.status = 'running'
  union all
  select 'pending_approval', count(*) from agents.team_runs as w where w.approval_status = 'pending'
) as r
union all
select 'dispatch_ticks', 'counter', 'Ticks', '{}', t.ticks from totals as t
union all
select 'last_tick_age_seconds', 'gauge', 'Seconds since the newest tick began', '{}',
  extract(epoch from clock_timestamp()) - extract(epoch from t.last_at) from totals as t
    where t.last_at is not null
union all
select 'last_tick_seconds', 'gauge', 'How long the newest tick took that is over', '{}', l.seconds
from (
  select extract(epoch from n.finished_at) - extract(epoch from n.started_at) as seconds
  from lenses.dispatch_ticks as n
  where n.finished_at is not null and n.undone_at is null
  order by n.id desc
  limit 1
) as l
union all
select 'dispatch_lanes', 'gauge', 'Lanes that share the work, as set', '{}', s.dispatch_lanes
from lenses.dispatch_settings as s
union all
select 'lane_last_tick_age_seconds', 'gauge',
  'Seconds since the newest tick of a lane began, of the last hour',
  jsonb_build_object('lane', l.lane::text),
  extract(epoch from clock_timestamp()) - extract(epoch from max(l.started_at))
from lenses.dispatch_ticks as l
where l.started_at > clock_timestamp() - interval '1 hour' and l.undone_at is null
group by l.lane
union all
select 'dispatch_frozen', 'gauge', '1 while dispatching is frozen', '{}', s.is_frozen::integer
from lenses.dispatch_settings as s
union all
select 'deliveries', 'counter', 'Requests that were answered, by delivery and outcome',
  jsonb_build_object('delivery', d.name, 'outcome', o.outcome), o.n
from lenses.deliveries as d
cross join lateral (values ('delivered', d.delivered), ('failed', d.failed)) as o (outcome, n)
union all
select 'delivery_failures', 'gauge', 'Requests that failed since the last that did not',
  jsonb_build_object('delivery', d.name), d.failures
from lenses.deliveries as d
union all
select 'outbox_events', 'gauge', 'Events in the outbox, by delivery and state',
  jsonb_build_object('delivery', d.name, 'state', e.state), e.n
from lenses.deliveries as d
cross join lateral (
  select 'waiting' as state, count(*) as n from lenses.outbox as o where o.delivery = d.name
    and o.dead_at is null
  union all
  select 'dead', count(*) from lenses.outbox as o where o.delivery = d.name
    and o.dead_at is not null
) as e
union all
select 'outbox_dropped', 'counter', 'Dead letters that max_events has dropped',
  jsonb_build_object('delivery', d.name), d.dropped
from lenses.deliveries as d
union all
select 'worker_heartbeat_age_seconds', 'gauge', 'Seconds since a worker has said that it lives',
  jsonb_build_object('worker', w.worker_id, 'leader', w.is_leader::text),
  extract(epoch from clock_timestamp()) - extract(epoch from w.beat_at)
from lenses.worker_heartbeats as w where w.beat_at > clock_timestamp() - interval '1 hour'
union all
select 'schedule_drift_seconds', 'histogram', 'Run minus planned due time',
  jsonb_build_object('le', b.bound::numeric / 1000),
  (
    select coalesce(sum(e.value::bigint), 0)
    from jsonb_each_text(t.lag -> 'buckets') as e
    where e.key <> '+Inf' and e.key::numeric <= b.bound::numeric
  )
from bounds as b cross join totals as t
union all
select 'schedule_drift_seconds', 'histogram', 'Run minus planned due time',
  jsonb_build_object('le', '+Inf'),
  coalesce((t.lag ->> 'count')::bigint, 0) from totals as t
union all
select 'schedule_drift_seconds', 'histogram', 'Run minus planned due time',
  jsonb_build_object('sum', true),
  coalesce((t.lag ->> 'sum')::numeric, 0) / 1000 from totals as t
union all
select m.* from lenses.fn_metrics_work() as m
$$;

comment on function lenses.fn_metrics() is
  'Samples for Prometheus: name, kind (gauge, counter, histogram), help, labels, value. A '
  'histogram has a row a bucket (label le, cumulative) and one with the label sum.';
