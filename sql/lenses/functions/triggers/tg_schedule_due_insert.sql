-- owner: lf_sql_engine
-- A restore of data only copies both tables, and by then the schedules' trigger has inserted the
-- due rows: a row that already exists takes the copied due time.
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
