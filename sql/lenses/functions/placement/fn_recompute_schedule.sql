-- owner: lf_sql_engine
-- For operators: recomputes next_run_at, as writing NULL to it does: the first slot after now that
-- is not used up. Past slots that wait are given up, with a log row. Inserts a missing due row.
-- Locks the schedule; safe to repeat.
create or replace function lenses.fn_recompute_schedule(p_schedule_id uuid)
returns lenses.workflow_schedules
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_row lenses.workflow_schedules;
begin
  select s.* into v_row
  from lenses.workflow_schedules as s where s.id = p_schedule_id for no key update;
  if not found then
    raise exception using
      errcode = '42501',
      message = format('there is no schedule "%s"', coalesce(p_schedule_id::text, 'NULL')),
      hint = 'lf-sql schedule list shows all.';
  elsif v_row.interval_ms is null and not lenses.fn_has_zone(v_row.timezone) then
    raise exception using
      errcode = '22023',
      column = 'timezone',
      message = format(
        'the zone "%s" of schedule %s is not known to this server', v_row.timezone, v_row.id
      ),
      hint = 'Install the server''s zone data, and the tick goes on by itself; or save the '
        'schedule with a zone of pg_timezone_names.';
  end if;
  perform lensers.fn_require_here(v_row.lenser_id);
  update lenses.workflow_schedules as s set next_run_at = null
  where s.id = p_schedule_id
  returning s.* into v_row;
  update lenses.schedule_due as d set due_at = v_row.due_at
  where d.schedule_id = v_row.id and d.lenser_id = v_row.lenser_id;
  if not found then
    insert into lenses.schedule_due (schedule_id, lenser_id, due_at)
    values (v_row.id, v_row.lenser_id, v_row.due_at);
  end if;
  return v_row;
end;
$$;

comment on function lenses.fn_recompute_schedule(uuid) is
  'Recomputes next_run_at: the first slot after now that has no run and was not used up; never a '
  'past slot. Returns the row. 42501: unknown id; 22023: its zone has left the server.';
