-- The slots in (p_after, p_until] of a schedule whose slots move off the closed dates of its
-- calendar, in order, at most p_limit (NULL: all): as lenses.fn_next_slot gives them one by one, in
-- one search.
create or replace function lenses.fn_next_moved_slots(
  p_schedule lenses.workflow_schedules,
  p_after timestamptz,
  p_until timestamptz,
  p_limit bigint
)
returns setof timestamptz
language sql
stable
set search_path = pg_catalog, pg_temp
as $$
  select lenses.fn_cron_next_moved(
    p_schedule.cron_spec, p_schedule.timezone,
    case when p_schedule.start_at > p_after
      then p_schedule.start_at - interval '1 microsecond' else p_after end,
    least(p_until, p_schedule.end_at, timestamptz '9999-12-31 23:59:59.999999+00'), p_limit)
$$;
