-- owner: lf_sql_engine
-- Keeps lenses.schedule_due equal to workflow_schedules.due_at for every writer but the dispatcher,
-- which moves both itself.
create or replace function lenses.tg_workflow_schedules_due()
returns trigger
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  update lenses.schedule_due as d
  set due_at = new.due_at, awaits_zone = case when new.due_at is null then d.awaits_zone end
  where d.schedule_id = new.id and d.lenser_id = new.lenser_id;
  if not found then
    insert into lenses.schedule_due (schedule_id, lenser_id, due_at)
    values (new.id, new.lenser_id, new.due_at);
  end if;
  return null;
end
$$;
