-- The parts of a queue policy that the dispatcher and the claims use; they are stored as columns of
-- the schedule.
create or replace function lenses.fn_queue_limits(
  p_policy jsonb,
  out max_in_flight integer,
  out on_missed text,
  out on_overlap text,
  out max_backfill integer,
  out spread_window_ms bigint
)
language sql
immutable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
  select
    case when p_policy ->> 'mode' = 'serial' then 1
      else (p_policy ->> 'maxConcurrency')::numeric::integer end,
    p_policy ->> 'onMissed',
    coalesce(p_policy ->> 'onOverlap', case
      when p_policy ->> 'mode' = 'serial' and p_policy ->> 'onMissed' in ('backfill', 'spread')
      then 'queue' end),
    coalesce((p_policy ->> 'maxBackfill')::numeric::integer, 100),
    coalesce((p_policy ->> 'spreadWindowMs')::numeric::bigint, 60000)
$$;
