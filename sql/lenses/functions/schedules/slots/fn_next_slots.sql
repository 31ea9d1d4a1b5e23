-- owner: lf_sql_engine
-- Slots of a schedule in (p_after, p_until], at most p_limit, in order, whether they ran or not.
create or replace function lenses.fn_next_slots(
  p_schedule_id uuid,
  p_after timestamptz,
  p_until timestamptz,
  p_limit integer
)
returns setof timestamptz
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_schedule lenses.workflow_schedules;
  v_slot timestamptz := p_after;
begin
  select s.* into v_schedule from lenses.workflow_schedules as s where s.id = p_schedule_id;
  if (v_schedule.cron_spec).day_rule > 15 then
    return query
    select n from lenses.fn_next_moved_slots(v_schedule, p_after, p_until, p_limit) as n;
    return;
  end if;
  for i in 1 .. p_limit loop
    v_slot := lenses.fn_next_slot(
      v_schedule.cron_spec, v_schedule.timezone, v_schedule.interval_ms, v_schedule.created_at,
      v_schedule.start_at, v_schedule.end_at, v_slot);
    exit when v_slot is null or v_slot > p_until;
    return next v_slot;
  end loop;
end;
$$;
