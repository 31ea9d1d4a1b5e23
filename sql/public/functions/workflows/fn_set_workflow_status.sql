-- For the owner. A workflow that is restored from deleted gets the schedules of its definition's
-- triggers again.
create or replace function public.fn_set_workflow_status(p_workflow_id uuid, p_status text)
returns lenses.workflows
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_lenser_id constant uuid := lensers.fn_hold_lenser();
  v_old lenses.workflows;
  v_row lenses.workflows;
begin
  select w.* into v_old
  from lenses.workflows as w
  where w.id = p_workflow_id and w.lenser_id = v_lenser_id
  for no key update;
  update lenses.workflows as w
  set status = p_status
  where w.id = v_old.id and w.lenser_id = v_lenser_id
  returning w.* into v_row;
  if v_old.status = 'deleted' and v_row.status <> 'deleted' then
    perform lenses.fn_sync_workflow_triggers(v_row, v_row.definition);
  end if;
  return lenses.fn_require_workflow(p_workflow_id);
end;
$$;

comment on function public.fn_set_workflow_status(uuid, text) is
  'Sets the status of the caller''s workflow: active, paused, deprecated (its slots are used up '
  'without a run) or deleted (its schedules go, runs stay). Returns the row. 22023: unknown '
  'status; 42501: not the caller''s.';
