-- How many slots lie in (p_after, p_until], for a spec that is not an expression alone (day_rule
-- beyond 7). Slots that move are listed and counted.
create or replace function lenses.fn_cron_count_beyond(
  p_spec lenses.cron_spec,
  p_timezone text,
  p_after timestamptz,
  p_until timestamptz
)
returns bigint
language sql
stable
set search_path = pg_catalog, pg_temp
as $$
  select case
    when p_spec.day_rule = 8 then (p_spec.run_at > p_after and p_spec.run_at <= p_until)::integer
    else (
      select count(*)
      from lenses.fn_cron_next_moved(p_spec, p_timezone, p_after, p_until, null))
  end
$$;
