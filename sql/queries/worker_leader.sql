-- Who holds the leader's lock in this database, for a worker that stands by: its server process, and whether that
-- process has been silent (no statement, no heartbeat) for longer than a living leader ever is. One row or none.
select
  l.pid,
  a.state is distinct from 'active'
  and a.state_change < pg_catalog.clock_timestamp() - pg_catalog.make_interval(secs => %(silence)s)
  and not exists (
    select 1
    from lenses.worker_heartbeats as w
    where w.is_leader and w.beat_at > pg_catalog.clock_timestamp() - pg_catalog.make_interval(secs => %(silence)s)
  ) as is_silent
from pg_catalog.pg_locks as l
inner join pg_catalog.pg_database as d on l.database = d.oid and d.datname = pg_catalog.current_database()
inner join pg_catalog.pg_stat_activity as a on l.pid = a.pid
where
  l.locktype = 'advisory'
  and l.granted
  and l.classid = %(class)s::bigint::oid
  and l.objid = %(object)s::bigint::oid
  and l.objsubid = 2;
