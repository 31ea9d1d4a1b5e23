-- owner: lf_sql_engine
-- Puts schedules, whose rows the caller has locked, back to where lenses.fn_undo_place says, their
-- due rows and open runs with them; set-wise and all or nothing. The dispatcher's own columns only.
create or replace function lenses.fn_undo_batch(
  p_schedule_ids uuid[],
  p_tick_id bigint,
  p_now timestamptz,
  p_from timestamptz,
  p_first_tick_id bigint
)
returns void
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
as $$
begin
  with placed as materialized (
    select
      p.id, p.next_run_at, p.due_at, p.last_dispatch_status, p.last_error_at,
      p.last_error_message, p.failure_count, p.is_deferred, p.seen_until, p.missed_before,
      p.missed_override, p.missed, p.dropped, p.spread_next_at, p.spread_step,
      -- NULL, or this tick would take it for handled.
      case when p.due_at <= p_now then nullif(p.tick_id, p_tick_id) else p.tick_id end as tick_id
    from lenses.workflow_schedules as s
    cross join lateral lenses.fn_undo_place(s, p_now, p_from, p_first_tick_id) as p
    where s.id = any (p_schedule_ids)
  ),

  due as (
    update lenses.schedule_due as d
    set due_at = p.due_at
    from placed as p
    where d.schedule_id = p.id
  )

  update lenses.workflow_schedules as s
  set
    next_run_at = p.next_run_at,
    due_at = p.due_at,
    last_dispatch_status = p.last_dispatch_status,
    last_error_at = p.last_error_at,
    last_error_message = p.last_error_message,
    dispatch_seq = s.dispatch_seq + 1,
    failure_count = p.failure_count,
    is_deferred = p.is_deferred,
    tick_id = p.tick_id,
    tick_slots = 0,
    seen_until = p.seen_until,
    missed_before = p.missed_before,
    missed_override = p.missed_override,
    missed = p.missed,
    dropped = p.dropped,
    spread_next_at = p.spread_next_at,
    spread_step = p.spread_step
  from placed as p
  where s.id = p.id;

  perform lenses.fn_undo_runs(p_schedule_ids, p_now);
end;
$$;
