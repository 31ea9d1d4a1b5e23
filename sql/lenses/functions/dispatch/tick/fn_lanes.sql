-- owner: lf_sql_engine
-- For a driver that holds the connections of all lanes: how many lanes are set, and how many of
-- them have work now, a batch each; at least 1. One look into the due index, no longer than what
-- the lanes take at once, and none where there is one lane.
create or replace function lenses.fn_lanes(out lanes integer, out wanted integer)
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
as $$
select s.dispatch_lanes, greatest(1, ceil(q.due::numeric / s.batch_size)::integer)
from lenses.dispatch_settings as s
cross join lateral (
  select count(*) as due
  from (
    select
    from lenses.schedule_due as d
    where s.dispatch_lanes > 1 and d.due_at <= clock_timestamp()
    limit s.dispatch_lanes * s.batch_size
  ) as x
) as q
$$;

comment on function lenses.fn_lanes() is
  'For lf-sql worker: dispatch_lanes, and how many of the lanes have work now, a batch of '
  'schedules each.';
