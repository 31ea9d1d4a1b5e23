-- The ledger of slots: one row a slot with its outcome; slots dropped together are one row.
create or replace view lenses.schedule_slots
with (security_invoker = true) as
select
  r.lenser_id,
  r.schedule_id,
  r.scheduled_for as run_at,
  r.scheduled_for as run_at_last,
  1::bigint as slot_count,
  r.idempotency_key,
  case r.status
    when 'pending_approval' then 'ENQUEUED'
    when 'pending' then 'ENQUEUED'
    when 'running' then 'STARTED'
    when 'completed' then 'SUCCESS'
    else 'FAILED'
  end as status,
  case when r.status in ('failed', 'timed_out', 'cancelled') then r.status end as reason,
  r.id as run_id,
  r.created_at,
  coalesce(r.completed_at, r.started_at, r.created_at) as updated_at
from lenses.workflow_runs as r
where r.schedule_id is not null and r.scheduled_for is not null
union all
-- Runs of a deleted schedule: triggered_by keeps its id.
select
  r.lenser_id,
  case when r.trigger_mode = 'schedule'
    and r.triggered_by ~ '^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$'
    then r.triggered_by::uuid end,
  r.scheduled_for,
  r.scheduled_for,
  1,
  r.idempotency_key,
  case r.status
    when 'pending_approval' then 'ENQUEUED'
    when 'pending' then 'ENQUEUED'
    when 'running' then 'STARTED'
    when 'completed' then 'SUCCESS'
    else 'FAILED'
  end,
  case when r.status in ('failed', 'timed_out', 'cancelled') then r.status end,
  r.id,
  r.created_at,
  coalesce(r.completed_at, r.started_at, r.created_at)
from lenses.workflow_runs as r
where r.schedule_id is null and r.scheduled_for is not null
union all
select
  l.lenser_id,
  l.schedule_id,
  x.first_slot,
  x.slot,
  x.slots - x.backfilled,
  case when x.slots = 1 then lenses.fn_slot_key(l.schedule_id, x.slot) end,
  case l.action_type when 'schedule_failed' then 'FAILED' else 'SKIPPED' end,
  l.payload ->> 'reason',
  null::uuid,
  l.occurred_at,
  l.occurred_at
from agents.action_logs as l
cross join lateral (
  select
    q.slot, q.slots, q.first_slot,
    -- Of slots dropped together, those that were backfilled have rows of their own.
    case when q.slots = 1 then 0 else (
      select count(*) from lenses.workflow_runs as r
      where r.schedule_id = l.schedule_id and r.trigger_mode = 'backfill'
        and r.scheduled_for between q.first_slot and q.slot
    ) end as backfilled
  from (
    select
      (l.payload ->> 'scheduled_for')::timestamptz as slot,
      coalesce((l.payload -> 'detail' ->> 'count')::bigint, 1) as slots,
      coalesce(
        (l.payload -> 'detail' ->> 'first')::timestamptz,
        (l.payload ->> 'scheduled_for')::timestamptz) as first_slot
  ) as q
) as x
where l.action_type in ('schedule_skipped', 'schedule_failed')
  and l.payload ->> 'reason' <> 'schedule_slot_exists'
  and x.slots > x.backfilled
  and not exists (
    select from lenses.workflow_runs as r
    where r.schedule_id = l.schedule_id and r.scheduled_for = x.slot
      and (x.slots = 1 or r.trigger_mode <> 'backfill')
  )
union all
select
  s.lenser_id,
  s.id,
  s.next_run_at,
  s.next_run_at,
  1,
  lenses.fn_slot_key(s.id, s.next_run_at),
  'DEFERRED',
  case when s.failure_count > 0 then 'dispatch_failed'
    else coalesce(s.wait_reason, 'overlap_in_flight') end,
  null::uuid,
  coalesce(s.last_error_at, s.next_run_at),
  coalesce(s.last_error_at, s.next_run_at)
from lenses.workflow_schedules as s
where s.is_active and s.seen_until is not null and s.next_run_at is not null
  and (s.failure_count > 0 or s.is_deferred)
  and not exists (
    select from lenses.workflow_runs as r
    where r.schedule_id = s.id and r.scheduled_for = s.next_run_at
  );

comment on view lenses.schedule_slots is
  'Ledger of slots: one row a slot with its outcome. status: ENQUEUED, STARTED, SUCCESS, FAILED, '
  'SKIPPED, DEFERRED; slots dropped together are one row with run_at, run_at_last and slot_count.';
