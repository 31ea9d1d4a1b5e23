-- owner: lf_sql_engine
-- Pauses that the ticks of a clock ahead of p_now have ended: they go on, as they were, p_limit at
-- most; p_resumed says how many, p_are_left whether a tick should look for more. Leaves out
-- schedules that somebody has changed since. Those that are locked are left for the next tick; one
-- that cannot be put back stays as it is, with a warning.
create or replace function lenses.fn_undo_resumes(
  p_now timestamptz,
  p_limit integer,
  out p_resumed integer,
  out p_are_left boolean
)
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
set timezone = 'UTC'
as $$
declare
  v_ended record;
  v_schedule lenses.workflow_schedules;
  v_ids uuid[] := '{}';
  v_failed_ids uuid[] := '{}';
begin
  for v_ended in
    select s as schedule, e.payload
    from lenses.fn_early_resumes(p_now) as e
    inner join lenses.workflow_schedules as s on s.id = e.schedule_id
    inner join lenses.schedule_due as d on d.schedule_id = s.id
    -- again, since the row may have changed before it was locked
    where s.is_active and s.updated_at = e.occurred_at
    order by s.id
    limit p_limit
    for no key update of s, d skip locked
  loop
    v_schedule := v_ended.schedule;
    begin
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
      where s.id = v_schedule.id;
      v_ids := v_ids || v_schedule.id;
    exception when others or assert_failure then
      if lenses.fn_is_server_error(sqlstate) then
        raise;
      end if;
      raise warning 'lf-sql: schedule % is not paused again: % %', v_schedule.id, sqlstate, sqlerrm;
      v_failed_ids := v_failed_ids || v_schedule.id;
    end;
  end loop;
  perform lenses.fn_undo_runs(v_ids, p_now);
  p_resumed := cardinality(v_ids);
  p_are_left := exists (
    select from lenses.fn_early_resumes(p_now) as e where e.schedule_id <> all (v_failed_ids));
end;
$$;

comment on function lenses.fn_undo_resumes(timestamptz, integer) is
  'Puts back pauses that a clock ahead of p_now has ended; the tick calls it.';
