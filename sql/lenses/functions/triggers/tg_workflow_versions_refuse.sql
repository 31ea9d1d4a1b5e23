-- owner: lf_sql_engine
-- Versions never change, for no role, so that what was approved stays the same. They are deleted
-- with their workflow; its row is gone by the time the cascade comes here.
create or replace function lenses.tg_workflow_versions_refuse()
returns trigger
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  if tg_op = 'DELETE' then
    if not exists (select from lenses.workflows as w where w.id = old.workflow_id) then
      return old;
    end if;
  elsif tg_op = 'UPDATE' then
    if new *= old then  -- byte for byte: as jsonb, 2 equals 2.0
      return new;
    end if;
  end if;
  raise exception using
    errcode = '42501',
    message = format('lenses.workflow_versions is immutable: %s refused', lower(tg_op)),
    hint = 'Change lenses.workflows.definition and a new version is written.';
end;
$$;

comment on function lenses.tg_workflow_versions_refuse() is
  'Refuses (42501) to change a version, or to remove it without its workflow.';
