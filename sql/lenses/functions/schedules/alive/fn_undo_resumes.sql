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
declare
  v_ended record;
  v_schedule lenses.workflow_schedules;
  v_are_left boolean := false;
begin
  for v_ended in
    select a.schedule_id, a.occurred_at, a.payload
    from agents.action_logs as a
    inner join lenses.workflow_schedules as s
      on s.id = a.schedule_id and s.is_active and s.updated_at = a.occurred_at
    where a.occurred_at > p_now and a.action_type = 'schedule_resumed'
      and a.payload ? 'paused_until'
    order by a.schedule_id
  loop
    select s.* into v_schedule
    from lenses.workflow_schedules as s
    inner join lenses.schedule_due as d on d.schedule_id = s.id and d.lenser_id = s.lenser_id
    where s.id = v_ended.schedule_id and s.is_active and s.updated_at = v_ended.occurred_at
    for no key update of s, d skip locked;
    if not found then
      v_are_left := true;
      continue;
    end if;
    v_schedule := lenses.fn_forget_backlog(v_schedule);
    v_schedule.next_run_at := (v_ended.payload ->> 'next_run_at')::timestamptz;
    v_schedule.due_at := null;
    v_schedule.tick_id := null;
    perform lenses.fn_write_place(v_schedule);
    update lenses.workflow_schedules as s
    set is_active = false,
      paused_at = (v_ended.payload ->> 'paused_at')::timestamptz,
      paused_until = (v_ended.payload ->> 'paused_until')::timestamptz,
      pause_note = v_ended.payload ->> 'pause_note',
      dispatch_seq = s.dispatch_seq + 1,
      updated_at = p_now
    where s.id = v_ended.schedule_id;
  end loop;
  return not v_are_left;
end;
$$;
