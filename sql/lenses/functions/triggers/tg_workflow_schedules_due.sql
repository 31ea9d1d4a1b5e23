-- owner: lf_sql_engine
-- Keeps lenses.schedule_due equal to its schedule, for every writer but the dispatcher, which moves
-- the due time itself.
create or replace function lenses.tg_workflow_schedules_due()
returns trigger
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_has_condition boolean := new.pre_dispatch_condition is not null;
  v_input_bytes integer := greatest(
    octet_length(new.inputs_template::text), octet_length(new.inputs_rotation::text));
begin
  if lensers.fn_is_departed(new.lenser_id) then
    return null;
  end if;
  update lenses.schedule_due as d
  set due_at = new.due_at, has_condition = v_has_condition, is_backlog = new.missed is not null,
    input_bytes = v_input_bytes,
    awaits_zone = case when new.due_at is null then d.awaits_zone end
  where d.schedule_id = new.id and d.lenser_id = new.lenser_id;
  if not found then
    insert into lenses.schedule_due (
      schedule_id, lenser_id, due_at, has_condition, is_backlog, input_bytes)
    values (
      new.id, new.lenser_id, new.due_at, v_has_condition, new.missed is not null, v_input_bytes);
  end if;
  return null;
end;
$$;
