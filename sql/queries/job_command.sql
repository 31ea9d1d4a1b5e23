-- The command of a job that runs in our database: calls nothing before it is clear whose it is,
-- because the job outlives what it calls and may run as a superuser. It is one statement, since a
-- procedure that commits shares its command with no other. The bundle fills in @procedure@ (the
-- job's `requires`) and @command@ (the job's file).

do $lf_sql$
begin
  perform pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
  if not coalesce(
    (
      select bool_and(o.rolsuper or o.oid = l.oid or o.rolname in ('lf_sql_owner', 'lf_sql_engine'))
      from pg_namespace as n
      inner join pg_proc as p on n.oid = p.pronamespace
      inner join pg_roles as o on o.oid in (n.nspowner, p.proowner)
      inner join pg_roles as l on l.rolname = session_user
      where n.nspname || '.' || p.proname = '@procedure@'
    ), false
  ) then
    raise exception using
      errcode = '42501',
      message = '@procedure@() is not here, or does not belong to lf-sql: nothing is called',
      hint = 'If lf-sql is gone, take its jobs away: '
        'select cron.unschedule(jobid) from cron.job where jobname = ...';
  end if;
  @command@
end;
$lf_sql$;
