-- owner: lf_sql_engine
-- failure_policy halt: pauses the schedule with a note. Writes as the dispatcher does
-- (dispatch_seq), so that a schedule that could not be saved any more is halted too. Nothing where
-- it is not active.
create or replace function lenses.fn_halt_schedule(
  p_schedule_id uuid,
  p_note text,
  p_now timestamptz
)
returns void
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  update lenses.workflow_schedules as s
  set is_active = false, paused_at = p_now, paused_until = null, pause_note = p_note,
    due_at = null, dispatch_seq = s.dispatch_seq + 1, updated_at = p_now
  where s.id = p_schedule_id and s.is_active;
  if found then
    update lenses.schedule_due as d set due_at = null where d.schedule_id = p_schedule_id;
    insert into agents.action_logs (lenser_id, schedule_id, action_type, payload, occurred_at)
    select s.lenser_id, s.id, 'schedule_halted', jsonb_build_object('note', p_note), p_now
    from lenses.workflow_schedules as s
    where s.id = p_schedule_id;
    if lenses.fn_wants_event('schedule.halted') then
      perform lenses.fn_emit_events('schedule.halted', jsonb_build_array((
        select jsonb_build_object(
          'lenser_id', s.lenser_id, 'schedule_id', s.id,
          'data', jsonb_build_object('cause', 'halted', 'error', p_note))
        from lenses.workflow_schedules as s
        where s.id = p_schedule_id)), p_now);
    end if;
  end if;
end;
$$;
