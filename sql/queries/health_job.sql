-- The minute job of database %(database)s as pg_cron shows it to the connected role, for
-- lenses.fn_health. Run in pg_cron's database, where health_facts.sql says that cron.job can be
-- read. %(names)s are the names that the job may have, first the one that lf-sql gives it: a job of
-- another name and for another database is that database's own. %(lane_names)s are the names for
-- each lane. Row security of pg_cron hides other roles' jobs.
with job as (
  select j.*
  from cron.job as j
  where j.jobname = any(%(names)s)
    and (j.jobname = (%(names)s::text[])[1] or j.database = %(database)s)
  order by j.database = %(database)s desc, j.jobname = (%(names)s::text[])[1] desc, j.active desc,
    j.jobid desc
  limit 1
),

last_run as (
  select
    d.status,
    d.return_message,
    pg_catalog.date_part(
      'epoch', pg_catalog.clock_timestamp() - coalesce(d.end_time, d.start_time)) as age
  from cron.job_run_details as d
  inner join job as j on d.jobid = j.jobid
  where d.status in ('succeeded', 'failed')
  order by d.runid desc
  limit 1
),

lanes as (
  select pg_catalog.array_agg(distinct l.jobname) as names
  from cron.job as l
  where l.jobname = any(%(lane_names)s) and l.database = %(database)s and l.active
),

oldest_run as (
  select pg_catalog.min(d.start_time) as start_time
  from cron.job_run_details as d
  inner join job as j on d.jobid = j.jobid
)

select
  pg_catalog.jsonb_build_object(
    'job', case
      when j.jobid is not null then pg_catalog.jsonb_build_object(
        'jobid', j.jobid,
        'schedule', j.schedule,
        'command', j.command,
        'database', j.database,
        'nodename', j.nodename,
        'nodeport', j.nodeport,
        'username', j.username,
        'active', j.active
      )
    end,
    'last_run', case when l.status is not null then pg_catalog.to_jsonb(l) end,
    'lane_jobs', n.names,
    'oldest_job_run', o.start_time
  ) as facts
from oldest_run as o
cross join lanes as n
left join job as j on true
left join last_run as l on true;
