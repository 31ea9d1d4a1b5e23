-- The English of a schedule's times, whichever of the three it has.
create or replace function lenses.fn_schedule_describe(
  p_cron_expr text,
  p_interval_ms bigint,
  p_run_at timestamptz default null
)
returns text
language plpgsql
stable
parallel safe
set search_path = pg_catalog, pg_temp
set timezone = 'UTC'
as $$
begin
  return case
    when p_run_at is not null then
      'Once, on ' || to_char(p_run_at, 'FMDD FMMonth YYYY "at" HH24:MI "UTC"')
    when p_cron_expr is null then lenses.fn_interval_describe(p_interval_ms)
    else lenses.fn_cron_describe(p_cron_expr)
  end;
end;
$$;

comment on function lenses.fn_schedule_describe(text, bigint, timestamptz) is
  'A cron expression, an interval in milliseconds, or a single slot, in English.';
