-- Which of the roles %(names)s could run our jobs: a row each. pg_cron logs in as them. Asked in
-- our database.
select
  w.name,
  r.oid is not null as has_role,
  coalesce(r.rolcanlogin, false) as can_login,
  case
    when r.oid is null then 'there is no such role'
    when not r.rolcanlogin then 'it may not log in'
    when not coalesce(pg_catalog.has_schema_privilege(r.oid, n.oid, 'usage'), false)
      then 'it lacks usage on schema lenses'
    when not coalesce(pg_catalog.has_function_privilege(r.oid, p.oid, 'execute'), false)
      then 'it may not call lenses.sp_dispatch_tick()'
  end as why_not,
  coalesce(
    r.rolcanlogin
    and pg_catalog.has_schema_privilege(r.oid, n.oid, 'usage')
    and pg_catalog.has_function_privilege(r.oid, p.oid, 'execute'),
    false
  ) as can_run
from pg_catalog.unnest(%(names)s::text[]) as w (name)
left join pg_catalog.pg_roles as r on w.name = r.rolname
left join pg_catalog.pg_namespace as n on n.nspname = 'lenses'
left join pg_catalog.pg_proc as p on n.oid = p.pronamespace and p.proname = 'sp_dispatch_tick';
