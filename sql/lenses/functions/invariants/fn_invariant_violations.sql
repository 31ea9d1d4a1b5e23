-- owner: lf_sql_engine
-- Promises that must hold at any moment, as a query: returns what breaks them, and nothing in a
-- sound database. For tests after a fault, and for lf-sql verify.
create or replace function lenses.fn_invariant_violations()
returns table (invariant text, subject uuid, detail text)
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
set timezone = 'UTC'
set jit = off
as $$
select 'one_run_a_slot', r.schedule_id, 'slot ' || r.scheduled_for || ' has ' || count(*) || ' runs'
from lenses.workflow_runs as r
where r.schedule_id is not null and r.scheduled_for is not null
group by r.schedule_id, r.scheduled_for having count(*) > 1
union all
select 'run_id_is_slot', r.id, 'slot ' || r.scheduled_for || ' of schedule ' || r.schedule_id
from lenses.workflow_runs as r
where r.trigger_mode in ('schedule', 'backfill') and r.schedule_id is not null
  and r.scheduled_for is not null
  and (r.idempotency_key <> lenses.fn_slot_key(r.schedule_id, r.scheduled_for)
    or r.id <> substr(r.idempotency_key, 1, 32)::uuid)
union all
select 'approval_before_start', r.id, 'status ' || r.status || ' without an approved decision'
from lenses.workflow_runs as r
where r.needs_approval and r.status in ('pending', 'running', 'completed', 'failed', 'timed_out')
  and r.attempt + (r.status in ('pending', 'running'))::integer > 0
  and not exists (
    select from agents.team_runs as t
    where t.workflow_run_id = r.id and t.approval_status = 'approved')
union all
select 'waiting_has_decision', r.id, 'waits for approval without a pending team run'
from lenses.workflow_runs as r
where r.status = 'pending_approval' and not exists (
  select from agents.team_runs as t
  where t.workflow_run_id = r.id and t.approval_status = 'pending')
union all
select 'one_tenant', r.id, 'run, schedule and workflow differ in lenser_id'
from lenses.workflow_runs as r
inner join lenses.workflows as w on w.id = r.workflow_id
left join lenses.workflow_schedules as s on s.id = r.schedule_id
where w.lenser_id <> r.lenser_id or s.lenser_id <> r.lenser_id
union all
select 'event_each_transition', r.id, 'last_event_seq ' || r.last_event_seq || ', events '
  || count(e.id)
from lenses.workflow_runs as r
left join lenses.workflow_run_events as e on e.run_id = r.id
group by r.id
-- One row a number up to the last; the first may be gone where events go before their runs.
having count(e.id) <> count(distinct e.seq)
  or count(e.id) <> r.last_event_seq - coalesce(min(e.seq) - 1, r.last_event_seq)
  or max(e.seq) <> r.last_event_seq
  or coalesce(min(e.seq), 0) <> 1
  and r.created_at >= coalesce(
    now() - (select d.events_retention from lenses.dispatch_settings as d), '-infinity')
union all
select 'due_index', s.id, 'due_at ' || coalesce(s.due_at::text, 'NULL') || ', indexed '
  || coalesce(d.due_at::text, 'NULL')
from lenses.workflow_schedules as s
left join lenses.schedule_due as d on d.schedule_id = s.id and d.lenser_id = s.lenser_id
inner join lensers.profiles as p on p.id = s.lenser_id
where p.departed_at is null and (d.schedule_id is null or d.due_at is distinct from s.due_at)
union all
select 'departed_is_quiet', p.id, 'has departed to cell ' || p.departed_to || ' and has ' || q.what
from lensers.profiles as p
cross join lateral (
  select 'schedules that are due' as what
  where exists (select from lenses.schedule_due as d where d.lenser_id = p.id)
  union all
  select 'runs in flight'
  where exists (
    select from lenses.workflow_runs as r
    where r.lenser_id = p.id and r.status in ('pending_approval', 'pending', 'running'))
  union all
  select 'gateway crons or runs that are active'
  where exists (select from agents.gateway_crons as c where c.lenser_id = p.id and c.is_active)
    or exists (
      select from agents.gateway_cron_runs as g
      where g.lenser_id = p.id and g.status in ('pending', 'running'))
  union all
  select 'events to deliver'
  where exists (select from lenses.outbox as o where o.lenser_id = p.id)
) as q
where p.departed_at is not null
union all
select 'active_is_due', s.id, 'is active and has a next slot, but no due time'
from lenses.workflow_schedules as s
where s.is_active and s.next_run_at is not null and s.due_at is null
union all
select 'slot_behind_watermark', r.schedule_id,
  'dispatched slot ' || r.scheduled_for || ' is not before next_run_at ' || s.next_run_at
from lenses.workflow_runs as r
inner join lenses.workflow_schedules as s on s.id = r.schedule_id
where r.trigger_mode = 'schedule' and r.scheduled_for >= s.next_run_at
  and s.updated_at <= r.created_at
  -- A tick by a clock that was ahead dispatched it, and a later tick by the right clock put the
  -- schedule back.
  and not exists (
    select
    from lenses.dispatch_ticks as t
    inner join lenses.dispatch_ticks as u
      on u.id > t.id and u.started_at < t.started_at - interval '1 minute'
    where t.started_at = r.created_at)
union all
select 'active_has_next', s.id, 'is active and has no next_run_at, though ' || n.slot
  || ' is a slot'
from lenses.workflow_schedules as s
left join lenses.dispatch_ticks as t on t.id = s.tick_id
cross join lateral (select greatest(now(), t.started_at, s.updated_at) as at offset 0) as q
cross join lateral (
  select case
    when s.is_active and s.next_run_at is null and lenses.fn_has_zone(s.timezone)
      then lenses.fn_free_slot(s, q.at, q.at) end as slot
  offset 0
) as n
where s.is_active and s.next_run_at is null and n.slot is not null
union all
select 'gateway_cron_has_next', c.id, 'is active and has no next_run_at'
from agents.gateway_crons as c
where c.is_active and c.next_run_at is null and lenses.fn_has_zone(c.timezone)
union all
select 'limits_of_policies', s.id, 'its limits are not what its policies, its assignment and '
  || 'default_queue_mode say: lenses.fn_recount() repairs it'
from lenses.workflow_schedules as s
cross join lenses.dispatch_settings as d
cross join lateral lenses.fn_queue_limits(
  lenses.fn_merge_policies(
    jsonb_build_object('queue_policy', s.queue_policy), s.explicit_defaults,
    s.workflow_assignment_id) -> 'queue_policy') as l
where (s.workflow_assignment_id is not null or d.default_queue_mode <> 'parallel')
  and (s.max_in_flight, s.on_missed, s.on_overlap)
  is distinct from (l.max_in_flight, l.on_missed, l.on_overlap)
union all
select 'parent_exists', m.id, m.resource || ': ' || m.detail
from lenses.fn_missing_parents(null) as m
union all
select 'parent_exists', r.id, 'run: workflow ' || r.workflow_id || ' is gone'
from lenses.workflow_runs as r
left join lenses.workflows as w on w.id = r.workflow_id
where w.id is null
union all
select 'run_counts', coalesce(k.workflow_id, r.workflow_id),
  'runs created at ' || coalesce(k.instant, r.instant)
  || ' are miscounted: lenses.fn_recount() repairs it'
from (
  select
    c.workflow_id, c.instant, sum(c.total) as total, sum(c.succeeded) as succeeded,
    sum(c.failed) as failed
  from lenses.run_counts as c
  where c.grain < 2 and c.instant > now() - interval '44 hours'
  group by c.workflow_id, c.instant
  having (sum(c.total), sum(c.succeeded), sum(c.failed)) <> (0, 0, 0)
) as k
full outer join (
  select
    w.workflow_id, w.created_at as instant, count(*) as total,
    count(*) filter (where w.status = 'completed') as succeeded,
    count(*) filter (where w.status in ('failed', 'timed_out')) as failed
  from lenses.workflow_runs as w
  where w.created_at > now() - interval '44 hours'
  group by w.workflow_id, w.created_at
) as r on r.workflow_id = k.workflow_id and r.instant = k.instant
where (k.total, k.succeeded, k.failed) is distinct from (r.total, r.succeeded, r.failed)
union all
select 'run_counts', c.workflow_id,
  'runs of grain ' || c.grain || ' from ' || c.instant
  || ' on are miscounted: lenses.fn_recount() repairs it'
from (
  select
    n.workflow_id, n.grain, n.instant, sum(n.total) as total, sum(n.succeeded) as succeeded,
    sum(n.failed) as failed
  from (
    select x.workflow_id, x.grain, x.instant, x.total, x.succeeded, x.failed
    from lenses.run_counts as x
    where x.grain > 1
    union all
    select
      x.workflow_id, k.grain, date_bin(k.span, x.instant, '2000-01-01Z'),
      -x.total, -x.succeeded, -x.failed
    from lenses.run_counts as x
    cross join lenses.fn_count_grains() as k
    where x.grain = 1 and k.grain > 1
  ) as n
  where n.instant > now() - interval '44 hours'
  group by n.workflow_id, n.grain, n.instant
) as c
where (c.total, c.succeeded, c.failed) <> (0, 0, 0)
union all
select 'lenser_usage', f.lenser_id, 'what quotas count is off: lenses.fn_recount() repairs it'
from lenses.fn_usage_of_all() as f
left join lenses.lenser_usage as u on u.lenser_id = f.lenser_id
where (f.schedules, f.gateway_crons, f.template_bytes) is distinct from (
  coalesce(u.schedules, 0), coalesce(u.gateway_crons, 0), coalesce(u.template_bytes, 0))
$$;

comment on function lenses.fn_invariant_violations() is
  'What breaks a promise of the product in this database: invariant, the row''s id, detail. No '
  'rows: sound.';
