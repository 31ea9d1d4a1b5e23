-- For the owner. Safe to repeat: a pause keeps its beginning, and note and end are replaced.
create or replace function public.fn_pause_workflow_schedule(
  p_schedule_id uuid,
  p_note text default null,
  p_until timestamptz default null
)
returns lenses.workflow_schedules
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
set timezone = 'UTC'
as $$
declare
  v_lenser_id constant uuid := lensers.fn_hold_lenser();
  v_row lenses.workflow_schedules;
begin
  perform lenses.fn_check_text(p_note, 'note', 2000);
  if p_until <= now() or not isfinite(p_until) then
    raise exception using
      errcode = '22023',
      column = 'until',
      message = format('until must be in the future, not "%s"', p_until),
      detail = format('It is %s now.', date_trunc('second', now())),
      hint = 'Give a time in the future, or NULL to pause until it is resumed.';
  end if;
  update lenses.workflow_schedules as s
  set is_active = false,
    paused_at = coalesce(s.paused_at, now()),
    paused_until = p_until,
    pause_note = p_note
  where s.id = p_schedule_id and s.lenser_id = v_lenser_id
  returning s.* into v_row;
  if not found then
    return lenses.fn_require_schedule(p_schedule_id);
  end if;
  insert into agents.action_logs (lenser_id, schedule_id, action_type, payload)
  values (
    v_lenser_id, p_schedule_id, 'schedule_paused',
    jsonb_build_object('note', p_note, 'until', p_until)
  );
  return v_row;
end;
$$;

comment on function public.fn_pause_workflow_schedule(uuid, text, timestamptz) is
  'Pauses the caller''s schedule at once, until p_until (NULL: until it is resumed); '
  'next_run_at stays to be seen. p_note (at most 2000 characters) stands in pause_note. Returns '
  'the row. 22023: p_until is past, or p_note is too long; 42501: not the caller''s.';
