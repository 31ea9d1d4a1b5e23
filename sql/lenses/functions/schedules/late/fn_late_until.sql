-- The end of the newest stretch of lenses.fn_late_windows: what fell due then or later is late in
-- no case. -infinity where there is no such stretch.
create or replace function lenses.fn_late_until(p_now timestamptz, p_missed_grace interval)
returns timestamptz
language sql
stable
set search_path = pg_catalog, pg_temp
as $$
select coalesce(
  greatest(
    (
      select t.started_at from lenses.dispatch_ticks as t
      where t.silent_since is not null and t.undone_at is null and t.started_at <= p_now
      order by t.started_at desc
      limit 1
    ) - p_missed_grace,
    case when coalesce((
      select max(t.started_at) from lenses.dispatch_ticks as t
      where t.started_at <= p_now and t.undone_at is null
    ), '-infinity') < p_now - p_missed_grace then p_now - p_missed_grace end
  ),
  '-infinity')
$$;
