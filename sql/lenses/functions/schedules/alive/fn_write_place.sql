-- owner: lf_sql_engine
-- Writes where a schedule stands among its slots, as the dispatcher does (dispatch_seq moves, so
-- that the table's trigger lets it pass), and its due row with it, which is made where it is
-- missing.
create or replace function lenses.fn_write_place(p_schedule lenses.workflow_schedules)
returns void
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  update lenses.workflow_schedules as s
  set
    next_run_at = p_schedule.next_run_at,
    due_at = p_schedule.due_at,
    last_dispatch_status = p_schedule.last_dispatch_status,
    last_error_at = p_schedule.last_error_at,
    last_error_message = p_schedule.last_error_message,
    dispatch_seq = s.dispatch_seq + 1,
    failure_count = p_schedule.failure_count,
    is_deferred = p_schedule.is_deferred,
    tick_id = p_schedule.tick_id,
    tick_slots = p_schedule.tick_slots,
    seen_until = p_schedule.seen_until,
    missed_before = p_schedule.missed_before,
    missed_override = p_schedule.missed_override,
    missed = p_schedule.missed,
    dropped = p_schedule.dropped,
    spread_next_at = p_schedule.spread_next_at,
    spread_step = p_schedule.spread_step
  where s.id = p_schedule.id;

  update lenses.schedule_due as d
  set due_at = p_schedule.due_at,
    awaits_zone = case when p_schedule.next_run_at is null then d.awaits_zone end
  where d.schedule_id = p_schedule.id and d.lenser_id = p_schedule.lenser_id;
  if not found then
    insert into lenses.schedule_due (schedule_id, lenser_id, due_at)
    values (p_schedule.id, p_schedule.lenser_id, p_schedule.due_at);
  end if;
end;
$$;
