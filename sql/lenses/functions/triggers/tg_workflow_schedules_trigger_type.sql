-- owner: lf_sql_engine
-- The first schedule of a workflow sets its trigger_type to schedule, the deletion of the last one
-- to manual. A schedule whose workflow was deleted at the same moment is refused here, where the
-- workflow is locked.
create or replace function lenses.tg_workflow_schedules_trigger_type()
returns trigger
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_ids uuid[];
begin
  if tg_op = 'INSERT' then
    v_ids := array(select distinct n.workflow_id from new_rows as n);
  elsif tg_op = 'DELETE' then
    v_ids := array(select distinct o.workflow_id from old_rows as o);
  else
    v_ids := array[old.workflow_id, new.workflow_id];
  end if;
  if v_ids = '{}' then
    return null;
  end if;
  perform lenses.fn_sync_trigger_type(v_ids);
  if tg_op = 'INSERT' or tg_op = 'UPDATE' then
    if exists (
      select from lenses.workflows as w
      inner join lenses.workflow_schedules as s on s.workflow_id = w.id
      where w.id = any (v_ids) and w.status = 'deleted'
    ) then
      raise exception using
        errcode = '22023',
        column = 'workflow_id',
        message = 'the workflow is deleted and takes no schedule',
        hint = 'Set its status to active first.';
    end if;
  end if;
  return null;
end;
$$;

comment on function lenses.tg_workflow_schedules_trigger_type() is
  'Keeps workflows.trigger_type; 22023 for a schedule of a deleted workflow.';
