-- owner: lf_sql_engine
-- A schedule whose templates, rotation or condition have changed: what it counts for changes.
create or replace function lenses.tg_workflow_schedules_quota_change()
returns trigger
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_more constant bigint := lenses.fn_template_bytes(
    new.inputs_template, new.inputs_rotation, new.pre_dispatch_condition)
    - lenses.fn_template_bytes(
      old.inputs_template, old.inputs_rotation, old.pre_dispatch_condition);
begin
  if v_more <> 0 then
    perform lenses.fn_use_quota(new.lenser_id, 0, 0, v_more);
  end if;
  return null;
end;
$$;
