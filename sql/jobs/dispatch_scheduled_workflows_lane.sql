-- job: dispatch-scheduled-workflows-@lane@
-- schedule: * * * * *
-- requires: lenses.sp_dispatch_tick
-- lanes: 2-16
-- The same once more for each further lane (dispatch_settings.dispatch_lanes). '@lane@' is its
-- number.

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
  call lenses.sp_dispatch_tick('@lane@');
end;
$lf_sql$;
