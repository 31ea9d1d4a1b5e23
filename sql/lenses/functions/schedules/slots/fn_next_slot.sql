-- The first slot of a schedule strictly after p_after, within its window and the years to 9999;
-- NULL where none is left. Takes columns, not the row: the tick calls it for each slot. Intervals
-- count from their anchor (start_at, itself a slot; else created_at cut to the minute), so dispatch
-- latency never drifts in.
create or replace function lenses.fn_next_slot(
  p_spec lenses.cron_spec,
  p_timezone text,
  p_interval_ms bigint,
  p_created_at timestamptz,
  p_start_at timestamptz,
  p_end_at timestamptz,
  p_after timestamptz
)
returns timestamptz
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_anchor timestamptz;
  v_k bigint;
  v_slot timestamptz;
begin
  if p_interval_ms is null then
    v_slot := lenses.fn_cron_next_after_spec(
      p_spec, p_timezone,
      case when p_start_at > p_after then p_start_at - interval '1 microsecond' else p_after end);
  else
    v_anchor := coalesce(p_start_at, pg_catalog.date_trunc('minute', p_created_at, 'UTC'));
    v_k := floor(extract(epoch from p_after - v_anchor) * 1000 / p_interval_ms)::bigint + 1;
    v_k := greatest(v_k, case when p_start_at is null then 1 else 0 end);
    v_slot := v_anchor + v_k * p_interval_ms * interval '1 millisecond';
  end if;
  return case
    when v_slot > p_end_at or v_slot > timestamptz '9999-12-31 23:59:59.999999+00' then null
    else v_slot end;
end;
$$;
