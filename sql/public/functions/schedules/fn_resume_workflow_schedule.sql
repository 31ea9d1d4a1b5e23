-- For the owner. The table's trigger applies onMissed to what passed since; this only passes on the
-- choice for this one time. Safe to repeat: an active schedule stays as it is.
create or replace function public.fn_resume_workflow_schedule(
  p_schedule_id uuid,
  p_note text default null,
  p_on_missed text default null
)
returns lenses.workflow_schedules
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  c_choices constant text[] := array['skip', 'run_once', 'backfill', 'spread'];
  v_lenser_id constant uuid := lensers.fn_hold_lenser();
  v_row lenses.workflow_schedules;
begin
  perform lenses.fn_check_text(p_note, 'note', 2000);
  if p_on_missed <> all (c_choices) then
    raise exception using
      errcode = '22023',
      column = 'on_missed',
      message = format('on_missed "%s" is not known', left(p_on_missed, 60))
        || coalesce(
          format('; the nearest is "%s"', lenses.fn_closest_word(p_on_missed, c_choices)), ''),
      hint = format('Use %s, or NULL for the schedule''s own.', array_to_string(c_choices, ', '));
  end if;
  update lenses.workflow_schedules as s
  set is_active = true,
    missed_override = case when s.paused_at is not null then p_on_missed end
  where s.id = p_schedule_id and s.lenser_id = v_lenser_id and not s.is_active
  returning s.* into v_row;
  if not found then
    return lenses.fn_require_schedule(p_schedule_id);
  end if;
  insert into agents.action_logs (lenser_id, schedule_id, action_type, payload)
  values (
    v_lenser_id, p_schedule_id, 'schedule_resumed',
    jsonb_build_object('note', p_note, 'on_missed', p_on_missed)
  );
  return v_row;
end;
$$;

comment on function public.fn_resume_workflow_schedule(uuid, text, text) is
  'Ends the pause of the caller''s schedule, or enables a disabled one. p_on_missed (skip, '
  'run_once, backfill, spread; NULL: the schedule''s own) decides this once about the slots '
  'that passed in a pause; p_note goes to the log. Returns the row. 22023: unknown p_on_missed, '
  'p_note too long, cycle_detected; 42501: not the caller''s.';
