-- The rows of cron.job with one of our names, %(names)s; which of them are this database's, jobs.py
-- decides. A role that is no superuser sees only its own. Asked in pg_cron's database.
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
