-- The English of a schedule's times, whichever of the two it has.
create or replace function lenses.fn_schedule_describe(p_cron_expr text, p_interval_ms bigint)
returns text
language plpgsql
immutable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  return case
    when p_cron_expr is null then lenses.fn_interval_describe(p_interval_ms)
    else lenses.fn_cron_describe(p_cron_expr)
  end;
end;
$$;

comment on function lenses.fn_schedule_describe(text, bigint) is
  'A cron expression, or an interval in milliseconds, in English.';
