-- owner: lf_sql_engine
-- A restore of the data alone copies both tables, and the schedules' trigger has made the due rows
-- by then: a row that is there already takes the copied due time.
create or replace function lenses.tg_schedule_due_insert()
returns trigger
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  update lenses.schedule_due as d set due_at = new.due_at
  where d.schedule_id = new.schedule_id and d.lenser_id = new.lenser_id;
  return case when found then null else new end;
end;
$$;
