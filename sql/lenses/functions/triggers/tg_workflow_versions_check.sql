-- owner: lf_sql_engine
-- A version is history, so it comes only from its workflow or from a restore: it is never newer
-- than the workflow, and the current one equals the workflow's definition. Columns that follow from
-- the definition are computed here for every role, since approval gates rely on them. A row that
-- already exists stays as it is.
create or replace function lenses.tg_workflow_versions_check()
returns trigger
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_workflow lenses.workflows;
begin
  if lensers.fn_is_departed(new.lenser_id) then
    return new;
  end if;
  select w.* into v_workflow from lenses.workflows as w where w.id = new.workflow_id;
  if not found then
    raise exception using
      errcode = '23503',
      column = 'workflow_id',
      message = format('workflow "%s" does not exist', new.workflow_id),
      hint = 'A version comes with its workflow.';
  end if;
  new.lenser_id := coalesce(new.lenser_id, v_workflow.lenser_id);
  if new.version not between 1 and v_workflow.version
    or (new.version = v_workflow.version and new.definition is distinct from v_workflow.definition)
  then
    raise exception using
      errcode = '22023',
      column = 'version',
      message = format('version %s is not what workflow "%s" has', new.version, new.workflow_id),
      detail = format('The workflow is at version %s.', v_workflow.version),
      hint = 'Change lenses.workflows.definition and a version is written.';
  end if;
  if exists (
    select from lenses.workflow_versions as v
    where v.workflow_id = new.workflow_id and v.version = new.version
      and v.definition = new.definition
  ) then
    return null;
  end if;
  perform lenses.fn_check_definition(new.definition);
  new.node_actions := lenses.fn_workflow_actions(new.definition);
  new.cycle := lenses.fn_workflow_cycle(new.definition);
  return new;
end;
$$;

comment on function lenses.tg_workflow_versions_check() is
  'Fills lenser_id, node_actions and cycle of a workflow''s version; 22023 for a version that '
  'the workflow does not have.';
