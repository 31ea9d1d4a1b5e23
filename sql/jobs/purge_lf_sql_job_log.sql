-- job: purge-lf-sql-job-log
-- schedule: 37 3 * * *
-- requires: lenses.sp_purge_history
-- place: here
-- Once a night: what pg_cron wrote about our own jobs, which it never removes itself. A run that
-- could not even connect has no times: of those the newest ten thousand numbers stay. Whose the
-- settings are is asked first.

do $lf_sql$
begin
  perform pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
  if not coalesce(
    (
      select bool_and(o.rolsuper or o.oid = l.oid or o.rolname in ('lf_sql_owner', 'lf_sql_engine'))
      from pg_namespace as n
      inner join pg_proc as p on n.oid = p.pronamespace and p.proname = 'sp_purge_history'
      inner join pg_roles as o on o.oid in (n.nspowner, p.proowner)
      inner join pg_roles as l on l.rolname = session_user
      where n.nspname = 'lenses'
    ), false
  ) then
    raise exception using
      errcode = '42501',
      message = 'lenses.sp_purge_history() is not here, or is somebody else''s: nothing is called',
      hint = 'If lf-sql is gone, take its jobs away: '
        'select cron.unschedule(jobid) from cron.job where jobname = ...';
  end if;
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
end;
$lf_sql$;
