-- The stretches of time in which a slot that fell due, after from_at and before until_at, is late
-- at p_now: due more than the grace before the first tick that ran at all after it. Those that end
-- after p_after, in order. Each tick has noted the gap that it ended; p_now itself counts as a
-- tick, and one that a clock ahead has left in the future does not, nor when its time has come. Of
-- ticks that ended one gap at once the first counts.
create or replace function lenses.fn_late_windows(
  p_after timestamptz,
  p_now timestamptz,
  p_missed_grace interval
)
returns table (from_at timestamptz, until_at timestamptz)
language sql
stable
set search_path = pg_catalog, pg_temp
as $$
select g.from_at, g.until_at
from (
  select t.silent_since as from_at, t.started_at - p_missed_grace as until_at
  from lenses.dispatch_ticks as t
  where t.silent_since is not null and t.undone_at is null
    and t.started_at > p_after + p_missed_grace and t.started_at <= p_now
    and not exists (
      select from lenses.dispatch_ticks as e
      where e.silent_since = t.silent_since and e.undone_at is null
        and e.started_at >= t.silent_since and e.started_at < t.started_at
    )
  union all
  select
    coalesce((
      select max(t.started_at) from lenses.dispatch_ticks as t
      where t.started_at <= p_now and t.undone_at is null
    ), '-infinity'),
    p_now - p_missed_grace
) as g
where g.until_at > g.from_at and g.until_at > p_after
order by g.until_at
$$;
