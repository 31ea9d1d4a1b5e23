-- What the installer must know before it touches anything: one row.
select
  current_user::text as user_name,
  r.rolsuper as is_superuser,
  r.rolsuper or r.rolcreaterole as can_create_roles,
  pg_catalog.current_database()::text as database_name,
  pg_catalog.current_setting('server_version_num')::integer as server_version_num,
  pg_catalog.current_setting('server_version') as server_version,
  pg_catalog.getdatabaseencoding()::text as encoding,
  pg_catalog.has_database_privilege(pg_catalog.current_database(), 'create') as can_create_schemas,
  coalesce(pg_catalog.has_schema_privilege(p.oid, 'create'), false) as can_create_in_public,
  p.oid is not null as has_public,
  coalesce(
    pg_catalog.has_schema_privilege(p.oid, 'create with grant option')
      or pg_catalog.pg_has_role(p.nspowner, 'usage'),
    false
  ) as can_own_public,
  coalesce(l.has_ledger, false) as has_ledger,
  coalesce(l.is_ours, false) as is_ledger_ours,
  array(
    select n.nspname::text from pg_catalog.pg_namespace as n
  ) as schemas,
  (
    select
      pg_catalog.jsonb_object_agg(
        w.role_name,
        pg_catalog.jsonb_build_object(
          'exists', g.oid is not null,
          'is_usable', coalesce(
            pg_catalog.pg_has_role(g.oid, 'usage')
              and pg_catalog.pg_has_role(g.oid, 'member'), false
          ),
          'is_grantable', coalesce(
            case
              when r.rolsuper then true
              when pg_catalog.current_setting('server_version_num')::integer < 160000
                then r.rolcreaterole and not g.rolsuper
              else pg_catalog.pg_has_role(g.oid, 'member with admin option')
            end,
            false
          )
        )
      )
    from
      pg_catalog.unnest(
        array['lf_sql_owner', 'lf_sql_engine', 'anon', 'authenticated', 'service_role']
      ) as w (role_name)
    left join pg_catalog.pg_roles as g on w.role_name = g.rolname
  ) as roles
from pg_catalog.pg_roles as r
left join pg_catalog.pg_namespace as p on p.nspname = 'public'
left join (
  select
    true as has_ledger,
    pg_catalog.pg_has_role(c.relowner, 'usage') as is_ours
  from pg_catalog.pg_class as c
  inner join pg_catalog.pg_namespace as n on n.oid = c.relnamespace
  where n.nspname = 'lf_sql' and c.relname = 'migrations' and c.relkind = 'r'
) as l on true
where r.rolname = current_user;
