-- For the owner. Locks the workflow before the schedule, as all code that deletes or moves a
-- schedule does.
create or replace function public.fn_delete_workflow_schedule(p_schedule_id uuid)
returns void
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_lenser_id constant uuid := lensers.fn_hold_lenser();
begin
  perform from lenses.workflows as w
  where w.id = (
    select s.workflow_id from lenses.workflow_schedules as s
    where s.id = p_schedule_id and s.lenser_id = v_lenser_id
  )
  for no key update;
  delete from lenses.workflow_schedules as s
  where s.id = p_schedule_id and s.lenser_id = v_lenser_id;
  if not found then
    perform lenses.fn_require_schedule(p_schedule_id);
  end if;
end;
$$;

comment on function public.fn_delete_workflow_schedule(uuid) is
  'Deletes the caller''s schedule; its runs stay and go on. One that a trigger of the '
  'workflow''s definition registered comes back when that definition is saved again. 42501: not '
  'the caller''s.';
