-- owner: lf_sql_engine
-- Makes trigger_type of the workflows say whether they have schedules. Locks them first, in order
-- of id, so that of a first schedule coming and a last one going at once the second sees the
-- first's work.
create or replace function lenses.fn_sync_trigger_type(p_workflow_ids uuid[])
returns void
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform from lenses.workflows as w
  where w.id = any (p_workflow_ids)
  order by w.id
  for no key update;
  update lenses.workflows as w
  set trigger_type = f.trigger_type
  from (
    select i.id, case when exists (
      select from lenses.workflow_schedules as s where s.workflow_id = i.id
    ) then 'schedule' else 'manual' end as trigger_type
    from unnest(p_workflow_ids) as i (id)
  ) as f
  where w.id = f.id and w.trigger_type <> f.trigger_type;
end;
$$;

comment on function lenses.fn_sync_trigger_type(uuid[]) is
  'Sets trigger_type of the workflows to schedule where they have one, else to manual.';
