-- The first slot of an expression strictly after an instant, for the psql prompt and the tests.
-- Checks the zone's name at each call; the dispatcher uses lenses.fn_cron_next_after_spec, whose
-- zone was checked when it was saved.
create or replace function lenses.fn_cron_next_after(
  p_cron_expr text,
  p_timezone text,
  p_after timestamptz
)
returns timestamptz
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  perform lenses.fn_check_timezone(p_timezone);
  return lenses.fn_cron_next_after_spec(lenses.fn_cron_parse(p_cron_expr), p_timezone, p_after);
end;
$$;

comment on function lenses.fn_cron_next_after(text, text, timestamptz) is
  'The first slot of a cron expression strictly after p_after, on the wall clock of p_timezone. '
  'NULL when none comes within 42 years. Raises 22023 for a bad expression or zone.';
