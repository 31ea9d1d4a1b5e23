-- Who is in an install's way: the longest-lived transaction that holds a table of ours
-- (%(is_table)s), or the advisory lock %(class)s, %(object)s. At most one row; what the connected
-- role may not see is NULL.
select
  l.pid,
  a.usename::text as role,
  nullif(a.application_name, '') as application,
  a.state,
  a.query_start
from pg_catalog.pg_locks as l
left join pg_catalog.pg_stat_activity as a on l.pid = a.pid
left join pg_catalog.pg_class as c on l.locktype = 'relation' and l.relation = c.oid
left join pg_catalog.pg_namespace as n on c.relnamespace = n.oid
where
  l.granted
  and l.pid is distinct from pg_catalog.pg_backend_pid()
  and l.database = (select d.oid from pg_catalog.pg_database as d
    where d.datname = pg_catalog.current_database())
  and case
    when %(is_table)s
      then c.relkind in ('r', 'p', 'v')
        and n.nspname in ('lf_sql', 'lensers', 'lenses', 'agents', 'automation')
    else l.locktype = 'advisory' and l.classid = %(class)s and l.objid = %(object)s
      and l.objsubid = 2
  end
order by a.xact_start nulls first
limit 1;
