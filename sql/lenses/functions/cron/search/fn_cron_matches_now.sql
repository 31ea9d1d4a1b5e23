-- Whether a slot falls in the minute of p_now. It calls the search itself, from one minute earlier,
-- so that the two can never disagree. For the psql prompt and the tests; the product does not call
-- it.
create or replace function lenses.fn_cron_matches_now(
  p_cron_expr text,
  p_now timestamptz default now(),
  p_timezone text default 'UTC'
)
returns boolean
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_minute timestamptz := to_timestamp(floor(extract(epoch from p_now) / 60) * 60);
begin
  perform lenses.fn_check_timezone(p_timezone);
  return coalesce(
    lenses.fn_cron_next_after_spec(
      lenses.fn_cron_parse(p_cron_expr), p_timezone, v_minute - interval '1 minute'
    ) = v_minute,
    false
  );
end;
$$;

comment on function lenses.fn_cron_matches_now(text, timestamptz, text) is
  'True when a slot of the cron expression falls in the minute of p_now, on the wall clock of '
  'p_timezone. Raises 22023 for a bad expression or zone.';
