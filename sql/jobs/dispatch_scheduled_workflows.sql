-- job: dispatch-scheduled-workflows
-- schedule: * * * * *
-- requires: lenses.sp_dispatch_tick
-- The heartbeat: one tick a minute. Zones, daylight saving, catch-up and everything else is the
-- tick's own affair. The job outlives what it calls, and may run as a superuser: whose that is, is
-- asked first. In one statement, since a procedure that commits shares its command with no other.

do $lf_sql$
begin
  perform pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
  if not coalesce(
    (
      select bool_and(o.rolsuper or o.oid = l.oid or o.rolname in ('lf_sql_owner', 'lf_sql_engine'))
      from pg_namespace as n
      inner join pg_proc as p on n.oid = p.pronamespace and p.proname = 'sp_dispatch_tick'
      inner join pg_roles as o on o.oid in (n.nspowner, p.proowner)
      inner join pg_roles as l on l.rolname = session_user
      where n.nspname = 'lenses'
    ), false
  ) then
    raise exception using
      errcode = '42501',
      message = 'lenses.sp_dispatch_tick() is not here, or is somebody else''s: nothing is called',
      hint = 'If lf-sql is gone, take its jobs away: '
        'select cron.unschedule(jobid) from cron.job where jobname = ...';
  end if;
  call lenses.sp_dispatch_tick();
end;
$lf_sql$;
