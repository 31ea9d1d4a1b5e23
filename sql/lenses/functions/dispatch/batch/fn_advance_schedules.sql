-- owner: lf_sql_engine
-- Moves the handled schedules on: next slot, due time, outcome, backlog. It writes only the
-- dispatcher's own columns, so it overwrites nothing that a user changes meanwhile. A deferred
-- schedule is looked at again within a minute.
create or replace function lenses.fn_advance_schedules(
  p_decisions lenses.slot_decision[],
  p_plans lenses.slot_plan[],
  p_tick_id bigint,
  p_now timestamptz,
  p_is_zone_lost boolean
)
returns void
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  with decided as materialized (
    select * from unnest(p_decisions)
  ),

  summed as materialized (
    select
      d.schedule_id,
      count(*) filter (where d.decision in ('dispatch', 'skip')) as handled,
      count(*) filter (where d.decision = 'dispatch') as dispatched,
      min(d.slot) filter (where d.decision in ('defer', 'wait')) as waiting_slot,
      max(d.slot) filter (where d.decision <> 'wait') as last_slot,
      max(d.slot) filter (where d.decision = 'dispatch') as last_dispatched,
      max(d.available_at) filter (where d.decision in ('dispatch', 'skip')) as last_available_at
    from decided as d
    group by d.schedule_id
  ),

  moved as materialized (
    select
      p.schedule_id,
      coalesce(u.waiting_slot, p.next_slot) as next_run_at,
      case
        when u.waiting_slot is null then p.next_due_at
        when o.decision = 'defer' and o.reason = 'limit_in_use' then p_now + interval '1 second'
        when o.decision = 'defer' then p_now + interval '50 seconds'
        else p_now
      end as due_at,
      coalesce(u.handled, 0) as handled,
      coalesce(o.decision = 'defer', false) as is_deferred,
      case when o.decision = 'defer' then o.reason end as wait_reason,
      coalesce(u.dispatched, 0) as dispatched,
      case
        when p_is_zone_lost then 'validation_failed'
        when p.dropped_last > u.last_slot or u.last_slot is null and p.dropped_count > 0
          then 'skipped_missed'
        else o.status
      end as status,
      case
        when p_is_zone_lost then 'the zone is not known to this server any more; the schedule goes '
          || 'on once it is back, or is saved with a zone that is known'
        when o.status in ('validation_failed', 'condition_failed')
          then coalesce(o.reason || ': ' || o.detail, o.reason)
      end as error,
      r.run_id as last_run_id,
      case when u.waiting_slot is null then p.seen_until
        else greatest(p.seen_until, u.waiting_slot) end as seen_until,
      nullif(
        p.missed * tstzmultirange(tstzrange(coalesce(u.waiting_slot, p.next_slot), null)), '{}'
      ) as missed,
      p.dropped,
      case when u.last_available_at is null then p.spread_next_at
        else u.last_available_at + p.spread_step end as spread_next_at,
      p.spread_step
    from unnest(p_plans) as p
    left join summed as u on u.schedule_id = p.schedule_id
    left join decided as o on o.schedule_id = p.schedule_id and o.slot = u.last_slot
    left join decided as r on r.schedule_id = p.schedule_id and r.slot = u.last_dispatched
  ),

  due as (
    update lenses.schedule_due as x
    set due_at = m.due_at, is_backlog = m.missed is not null
    from moved as m
    where x.schedule_id = m.schedule_id
  )

  update lenses.workflow_schedules as s
  set
    next_run_at = m.next_run_at,
    due_at = m.due_at,
    last_run_at = case when m.dispatched > 0 then p_now else s.last_run_at end,
    last_run_id = coalesce(m.last_run_id, s.last_run_id),
    last_dispatch_status = coalesce(m.status, s.last_dispatch_status),
    last_error_at = case when m.error is null then s.last_error_at else p_now end,
    last_error_message = coalesce(m.error, s.last_error_message),
    last_rotation_index = s.last_rotation_index
      + case when s.inputs_rotation is null then 0 else m.dispatched end,
    dispatch_seq = s.dispatch_seq + 1,
    is_deferred = m.is_deferred,
    wait_reason = m.wait_reason,
    failure_count = case when m.handled > 0 then 0 else s.failure_count end,
    tick_slots = m.handled + case when s.tick_id = p_tick_id then s.tick_slots else 0 end,
    tick_id = p_tick_id,
    seen_until = case when m.seen_until >= m.next_run_at then m.seen_until end,
    missed_before = null,
    missed_override = case when m.missed is not null then s.missed_override end,
    missed = m.missed,
    dropped = nullif(m.dropped * tstzmultirange(tstzrange(m.next_run_at, null)), '{}'),
    spread_next_at = case when m.missed is not null then m.spread_next_at end,
    spread_step = case when m.missed is not null then m.spread_step end
  from moved as m
  where s.id = m.schedule_id;
end;
$$;
