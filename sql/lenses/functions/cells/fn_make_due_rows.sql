-- owner: lf_sql_engine
-- Puts the schedules of tenants back into the due index, as lenses.tg_workflow_schedules_due would.
create or replace function lenses.fn_make_due_rows(p_lenser_ids uuid[])
returns void
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  insert into lenses.schedule_due (
    schedule_id, lenser_id, due_at, has_condition, is_backlog, input_bytes, awaits_zone)
  select
    s.id, s.lenser_id, s.due_at, s.pre_dispatch_condition is not null, s.missed is not null,
    greatest(octet_length(s.inputs_template::text), octet_length(s.inputs_rotation::text)),
    case when s.is_active and s.next_run_at is null and not lenses.fn_has_zone(s.timezone)
      then s.timezone end
  from lenses.workflow_schedules as s
  where s.lenser_id = any (p_lenser_ids)
  order by s.id;
end;
$$;
