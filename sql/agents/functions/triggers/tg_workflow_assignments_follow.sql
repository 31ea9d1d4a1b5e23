-- owner: lf_sql_engine
-- The schedules that go by an assignment take over what its queue policy means for them.
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
