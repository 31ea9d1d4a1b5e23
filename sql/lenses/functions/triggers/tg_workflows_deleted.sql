-- owner: lf_sql_engine
-- Deletes the schedules of a deleted workflow; their runs stay.
create or replace function lenses.tg_workflows_deleted()
returns trigger
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  if lensers.fn_is_departed(new.lenser_id) then
    return null;
  end if;
  delete from lenses.workflow_schedules as s where s.workflow_id = new.id;
  return null;
end;
$$;

comment on function lenses.tg_workflows_deleted() is
  'Deletes the schedules of a workflow whose status became deleted.';
