-- The p_n-th slot of a schedule strictly after p_after (p_n >= 1), without listing those before it.
create or replace function lenses.fn_nth_slot(
  p_schedule lenses.workflow_schedules,
  p_after timestamptz,
  p_n bigint
)
returns timestamptz
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_slot timestamptz;
begin
  if p_schedule.interval_ms is null then
    v_slot := lenses.fn_cron_nth_after(
      p_schedule.cron_spec, p_schedule.timezone,
      greatest(p_after, p_schedule.start_at - interval '1 microsecond'), p_n);
    return case when v_slot > p_schedule.end_at then null else v_slot end;
  end if;
  v_slot := lenses.fn_next_slot(
    p_schedule.cron_spec, p_schedule.timezone, p_schedule.interval_ms, p_schedule.created_at,
    p_schedule.start_at, null, p_after);
  v_slot := v_slot + (p_n - 1) * p_schedule.interval_ms * interval '1 millisecond';
  return case
    when v_slot > p_schedule.end_at
      or v_slot > timestamptz '9999-12-31 23:59:59.999999+00' then null
    else v_slot end;
end;
$$;
