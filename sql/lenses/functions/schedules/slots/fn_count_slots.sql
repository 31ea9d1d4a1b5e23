-- How many slots a schedule has in (p_after, p_until], without listing them: bounded work for any
-- gap.
create or replace function lenses.fn_count_slots(
  p_schedule lenses.workflow_schedules,
  p_after timestamptz,
  p_until timestamptz
)
returns bigint
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_after timestamptz := greatest(p_after, p_schedule.start_at - interval '1 microsecond');
  v_until timestamptz := least(p_until, p_schedule.end_at);
  v_anchor timestamptz;
  v_from bigint;
begin
  if v_until <= v_after then
    return 0;
  end if;
  if p_schedule.interval_ms is null then
    return lenses.fn_cron_count(p_schedule.cron_spec, p_schedule.timezone, v_after, v_until);
  end if;
  v_anchor := coalesce(
    p_schedule.start_at, pg_catalog.date_trunc('minute', p_schedule.created_at, 'UTC'));
  v_from := greatest(
    floor(extract(epoch from v_after - v_anchor) * 1000 / p_schedule.interval_ms)::bigint,
    case when p_schedule.start_at is null then 0 else -1 end);
  return greatest(
    floor(extract(epoch from v_until - v_anchor) * 1000 / p_schedule.interval_ms)::bigint - v_from,
    0);
end;
$$;
