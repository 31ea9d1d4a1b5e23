-- owner: lf_sql_engine
-- Updates the schedules that use an assignment after its queue policy has changed.
create or replace function agents.tg_workflow_assignments_follow()
returns trigger
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform lenses.fn_follow_policies(new.id);
  return null;
end;
$$;
