-- Sessions that have held a lock on schedules for a minute, for lenses.fn_health: as far as the
-- connected role sees them (when a transaction began is hidden from it as a rule, unless it has
-- pg_read_all_stats). Our own tick ends within one.
select
  coalesce(pg_catalog.jsonb_agg(pg_catalog.to_jsonb(h) order by h.age desc nulls last),
    '[]') as holders
from (
  select distinct on (l.pid)
    l.pid,
    a.usename as role,
    a.application_name,
    a.state,
    pg_catalog.date_part('epoch', pg_catalog.clock_timestamp() - a.xact_start) as age,
    l.mode as lock,
    c.oid::pg_catalog.regclass::text as relation,
    x.transactionid::text as xid
  from pg_catalog.pg_locks as l
  inner join pg_catalog.pg_class as c on c.oid = l.relation
  inner join pg_catalog.pg_database as b on b.oid = l.database
  left join pg_catalog.pg_stat_activity as a on a.pid = l.pid
  left join pg_catalog.pg_locks as x on x.pid = l.pid and x.locktype = 'transactionid' and x.granted
    and x.mode = 'ExclusiveLock'
  where l.locktype = 'relation' and l.granted and b.datname = pg_catalog.current_database()
    and l.pid <> pg_catalog.pg_backend_pid()
    and l.relation in (
      pg_catalog.to_regclass('lenses.workflow_schedules'),
      pg_catalog.to_regclass('lenses.schedule_due')
    )
    and l.mode not in ('AccessShareLock', 'ShareUpdateExclusiveLock')
    and coalesce(a.xact_start < pg_catalog.clock_timestamp() - interval '1 minute', true)
  order by l.pid, l.relation, l.mode desc
) as h;
