-- The next p_n slots of an expression strictly after an instant, in order; fewer where they end.
-- A loop, since each slot is found from the one before.
create or replace function lenses.fn_cron_next(
  p_cron_expr text,
  p_timezone text,
  p_after timestamptz,
  p_n int
)
returns setof timestamptz
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_spec lenses.cron_spec := lenses.fn_cron_parse(p_cron_expr);
  v_slot timestamptz := p_after;
begin
  perform lenses.fn_check_timezone(p_timezone);
  for v_i in 1..coalesce(p_n, 0) loop
    v_slot := lenses.fn_cron_next_after_spec(v_spec, p_timezone, v_slot);
    exit when v_slot is null;
    return next v_slot;
  end loop;
end;
$$;

comment on function lenses.fn_cron_next(text, text, timestamptz, int) is
  'The next p_n slots of a cron expression strictly after p_after, on the wall clock of '
  'p_timezone. Raises 22023 for a bad expression or zone.';
