-- Our jobs for this database, and those that a restore or a rename left for one that does not exist.
-- %(names)s: our jobs' names. A role that is no superuser sees only its own.
select
  j.jobid,
  j.jobname::text as name,
  j.schedule,
  j.command,
  j.database,
  j.username,
  j.active,
  j.username = current_user as is_mine,
  d.datname is null as is_orphan,
  coalesce(
    pg_catalog.has_schema_privilege(r.oid, 'lenses', 'usage') and r.rolcanlogin, false
  ) as owner_can
from cron.job as j
left join pg_catalog.pg_database as d on j.database = d.datname
left join pg_catalog.pg_roles as r on j.username = r.rolname
where
  j.jobname = any(%(names)s)
  and (j.database = pg_catalog.current_database() or d.datname is null)
order by j.jobname, j.jobid;
