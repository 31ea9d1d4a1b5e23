-- job: purge-lf-sql-job-log
-- schedule: 37 3 * * *
-- requires: lenses.sp_purge_history
-- place: here
-- Once a night: deletes what pg_cron wrote about our own jobs, because pg_cron never does. A run
-- that could not even connect has no times; of those the newest ten thousand numbers stay.

delete from cron.job_run_details as d
using cron.job as j
where j.jobid = d.jobid
  and j.jobname
    ~ '^(dispatch-scheduled-workflows(-[0-9]+)?|purge-lf-sql-history|purge-lf-sql-job-log)$'
  and (
    d.end_time < now() - (select s.ticks_retention from lenses.dispatch_settings as s)
    or d.start_time is null
    and d.runid < (select max(r.runid) - 10000 from cron.job_run_details as r)
  );
