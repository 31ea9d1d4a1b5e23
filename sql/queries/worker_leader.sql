-- For a worker without the leader's lock: who holds it in this database, whether another worker
-- leads (the holder, if he beats as a leader; else the eldest of those who tick without the lock),
-- and whether the holder is a worker that has been silent (no statement, no heartbeat) for longer
-- than a living one ever is. One row, or none: it is free.
with alive as (
  select
    w.worker_id,
    w.started_at,
    w.server_pid,
    w.beat_at > pg_catalog.clock_timestamp()
      - pg_catalog.make_interval(secs => %(silence)s) as is_recent
  from lenses.worker_heartbeats as w
  inner join pg_catalog.pg_stat_activity as a
    on w.server_pid = a.pid and a.datname = pg_catalog.current_database()
    and coalesce(w.beat_at >= a.backend_start, true)
  where w.is_leader and w.worker_id <> %(me)s
)

select
  l.pid,
  a.usename::text as role_name,
  exists (
    select 1 from alive as w
    where w.server_pid = l.pid and (w.is_recent or a.state = 'active')
      or w.server_pid <> l.pid and w.is_recent and not exists (
        select 1 from lenses.worker_heartbeats as m
        where m.worker_id = %(me)s and (m.started_at, m.worker_id) < (w.started_at, w.worker_id)
      )
  ) as has_leader,
  a.state is distinct from 'active'
  and a.state_change < pg_catalog.clock_timestamp() - pg_catalog.make_interval(secs => %(silence)s)
  and exists (select 1 from alive as w where w.server_pid = l.pid and not w.is_recent) as is_silent
from pg_catalog.pg_locks as l
inner join pg_catalog.pg_database as d on l.database = d.oid
  and d.datname = pg_catalog.current_database()
inner join pg_catalog.pg_stat_activity as a on l.pid = a.pid
where
  l.locktype = 'advisory'
  and l.granted
  and l.classid = %(class)s::bigint::oid
  and l.objid = %(object)s::bigint::oid
  and l.objsubid = 2;
