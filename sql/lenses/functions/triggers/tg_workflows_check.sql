-- owner: lf_sql_engine
-- Validates a workflow's row, whatever path it comes by. version counts changes of the definition
-- and nothing else; trigger_type says whether there are schedules, whatever is written.
create or replace function lenses.tg_workflows_check()
returns trigger
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  c_rules constant jsonb := '{
    "kind": {"type": "word", "values": ["workflow", "battle"]},
    "status": {"type": "word", "values": ["active", "paused", "deprecated", "deleted"]},
    "trigger_type": {"type": "word", "values": ["manual", "schedule"]}
  }';
begin
  if lensers.fn_is_departed(new.lenser_id) then
    return new;
  end if;
  perform lenses.fn_check_policy('workflow', jsonb_build_object(
    'kind', new.kind, 'status', new.status, 'trigger_type', new.trigger_type), c_rules);
  perform lenses.fn_check_text(new.title, 'title', 500);
  if tg_op = 'INSERT' then
    perform lenses.fn_check_definition(new.definition);
    new.trigger_type := 'manual';
    return new;
  end if;

  if new.lenser_id <> old.lenser_id then
    raise exception using
      errcode = '22023',
      column = 'lenser_id',
      message = format('workflow "%s" cannot go to another tenant', old.id),
      hint = 'Create another one with the same definition for that tenant.';
  end if;
  if lenses.fn_is_changed(new.definition, old.definition) then
    perform lenses.fn_check_definition(new.definition);
    new.version := old.version + 1;
  elsif new.version <> old.version then
    raise exception using
      errcode = '22023',
      column = 'version',
      message = format(
        'version of a workflow is counted by the table; it is %s, not %s', old.version, new.version
      ),
      hint = 'Store another definition and it counts up; workflow_version pins one for a schedule.';
  end if;
  if new.trigger_type <> old.trigger_type then
    new.trigger_type := case
      when exists (
        select from lenses.workflow_schedules as s where s.workflow_id = new.id
      ) then 'schedule'
      else 'manual'
    end;
  end if;
  if (new.title, new.kind, new.status, new.definition)
    is distinct from (old.title, old.kind, old.status, old.definition)
    and new.updated_at = old.updated_at
  then
    new.updated_at := now();
  end if;
  return new;
end;
$$;

comment on function lenses.tg_workflows_check() is
  'Checks title, kind, status and definition of a workflow (22023), counts its version, keeps '
  'trigger_type true.';
