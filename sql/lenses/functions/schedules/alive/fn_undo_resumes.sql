-- owner: lf_sql_engine
-- Pauses that the ticks of a clock ahead of p_now have ended: they go on, as they were. Leaves out
-- schedules that somebody has changed since, and those that are locked; false where one is left.
create or replace function lenses.fn_undo_resumes(p_now timestamptz)
returns boolean
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
set timezone = 'UTC'
as $$
begin
  with ended as materialized (
    select s.id, s.lenser_id, a.payload
    from agents.action_logs as a
    inner join lenses.workflow_schedules as s
      on s.id = a.schedule_id and s.is_active and s.updated_at = a.occurred_at
    inner join lenses.schedule_due as d on d.schedule_id = s.id and d.lenser_id = s.lenser_id
    where a.occurred_at > p_now and a.action_type = 'schedule_resumed'
      and a.payload ? 'paused_until'
    order by s.id
    for no key update of s, d skip locked
  ),

  due as (
    update lenses.schedule_due as d
    set due_at = null, is_backlog = false
    from ended as e
    where d.schedule_id = e.id and d.lenser_id = e.lenser_id
  )

  update lenses.workflow_schedules as s
  set
    is_active = false,
    paused_at = (e.payload ->> 'paused_at')::timestamptz,
    paused_until = (e.payload ->> 'paused_until')::timestamptz,
    pause_note = e.payload ->> 'pause_note',
    next_run_at = (e.payload ->> 'next_run_at')::timestamptz,
    due_at = null,
    dispatch_seq = s.dispatch_seq + 1,
    tick_id = null,
    updated_at = p_now,
    failure_count = f.failure_count,
    is_deferred = f.is_deferred,
    seen_until = f.seen_until,
    missed_before = f.missed_before,
    missed_override = f.missed_override,
    missed = f.missed,
    dropped = f.dropped,
    spread_next_at = f.spread_next_at,
    spread_step = f.spread_step
  from ended as e
  inner join lenses.workflow_schedules as q on q.id = e.id
  cross join lateral lenses.fn_forget_backlog(q) as f
  where s.id = e.id;
  return not exists (
    select
    from agents.action_logs as a
    inner join lenses.workflow_schedules as s
      on s.id = a.schedule_id and s.is_active and s.updated_at = a.occurred_at
    where a.occurred_at > p_now and a.action_type = 'schedule_resumed'
      and a.payload ? 'paused_until');
end;
$$;
