-- owner: lf_sql_engine
-- Refuses to delete a workflow that has runs. It stands for a foreign key of the runs, which would
-- look up and lock the workflow for each run that a tick inserts, though the tick holds the
-- schedule, and the schedule's foreign key the workflow. Inserts of other roles share the
-- workflow's row (lenses.tg_workflow_runs_admit). Its id and tenant do not change, since its
-- versions refer to them. It runs after the schedules are deleted, which waits for a tick that
-- holds one.
create or replace function lenses.tg_workflows_has_runs()
returns trigger
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  if exists (
    select from lenses.workflow_runs as r
    where r.workflow_id = old.id and r.lenser_id = old.lenser_id
  ) then
    raise exception using
      errcode = '23503',
      column = 'id',
      message = format('workflow "%s" has runs', old.id),
      hint = 'Set its status to deleted instead; runs keep their workflow until they are purged.';
  end if;
  return null;
end;
$$;

comment on function lenses.tg_workflows_has_runs() is
  'Refuses to delete a workflow that has runs (23503).';
