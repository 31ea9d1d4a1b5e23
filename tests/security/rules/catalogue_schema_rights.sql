-- Nobody but the owners creates in our schemas; who may look is listed here; in public PUBLIC creates nothing.
-- breaks: grant create on schema lenses to service_role
select r.nspname || ' ' || coalesce(nullif(a.grantee, 0)::regrole::text, 'PUBLIC') || ' ' || a.privilege_type
from our_schemas as r
cross join aclexplode(r.nspacl) as a
where a.grantee <> r.nspowner
  and (r.nspname, coalesce(nullif(a.grantee, 0)::regrole::text, 'PUBLIC'), a.privilege_type) not in (
    select s.name, g.name, 'USAGE'
    from unnest(array['lf_sql', 'lensers', 'lenses', 'agents', 'automation']) as s (name)
    cross join unnest(array['lf_sql_owner', 'lf_sql_engine', 'service_role', 'authenticated']) as g (name)
    where g.name <> 'authenticated' or s.name in ('lensers', 'lenses', 'agents')
  )
union all
select 'public PUBLIC CREATE' where has_schema_privilege('anon', 'public', 'create')
