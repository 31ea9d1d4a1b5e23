-- For the RPCs: the caller's own schedule, or the one refusal that a stranger's id and an unknown
-- id share, byte for byte.
create or replace function lenses.fn_require_schedule(p_schedule_id uuid)
returns lenses.workflow_schedules
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_lenser_id constant uuid := lensers.fn_require_lenser();
  v_row lenses.workflow_schedules;
begin
  select s.* into v_row
  from lenses.workflow_schedules as s
  where s.id = p_schedule_id and s.lenser_id = v_lenser_id;
  if not found then
    raise exception using
      errcode = '42501',
      message = 'there is no such schedule of yours',
      hint = 'public.fn_workflow_get_schedules() lists yours.';
  end if;
  return v_row;
end;
$$;

comment on function lenses.fn_require_schedule(uuid) is
  'The caller''s schedule of that id; 42501 for any other id.';
