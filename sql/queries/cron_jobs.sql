-- The rows of cron.job with one of our names, %(names)s; jobs.py decides which of them belong to
-- this database. A role that is not a superuser sees only its own. Run in pg_cron's database.
select
  j.jobid,
  j.jobname::text as job,
  j.schedule,
  j.command,
  j.nodename,
  j.nodeport,
  j.database,
  j.username,
  j.active,
  d.datname is null as is_orphan
from cron.job as j
left join pg_catalog.pg_database as d on j.database = d.datname
where j.jobname = any(%(names)s)
order by j.jobname, j.jobid;
