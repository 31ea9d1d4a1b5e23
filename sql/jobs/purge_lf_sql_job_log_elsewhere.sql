-- job: purge-lf-sql-job-log
-- schedule: 37 3 * * *
-- requires: lenses.sp_purge_history
-- place: elsewhere
-- The same where pg_cron lives in another database, in which it runs: there are no settings of
-- ours. '@…@' is filled in when it is registered.

set search_path = pg_catalog, pg_temp;
delete from cron.job_run_details as d
using cron.job as j
where j.jobid = d.jobid
  and (j.database = '@database@' and j.command like '%call lenses.sp\_%' or j.jobname = '@name@')
  and (
    d.end_time < now() - cast('@retention@' as interval)
    or d.start_time is null
      and d.runid < (select max(r.runid) - 10000 from cron.job_run_details as r)
  );
