-- owner: lf_sql_engine
-- Keeps every definition that a workflow has had, including the first.
create or replace function lenses.tg_workflows_version()
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
  insert into lenses.workflow_versions (workflow_id, version, lenser_id, definition)
  values (new.id, new.version, new.lenser_id, new.definition);
  perform lenses.fn_clear_mended_of(new.id);
  return null;
end;
$$;

comment on function lenses.tg_workflows_version() is
  'Writes the workflow_versions row of a workflow''s new version.';
