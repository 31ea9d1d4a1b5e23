-- What our owners will make is nobody else's by default.
-- breaks: alter default privileges for role lf_sql_owner grant select on tables to anon
select coalesce(r.nspname, 'everywhere') || ' ' || coalesce(nullif(a.grantee, 0)::regrole::text, 'PUBLIC')
from pg_default_acl as d
left join pg_namespace as r on r.oid = d.defaclnamespace
cross join aclexplode(d.defaclacl) as a
where (d.defaclrole in (select g.oid from pg_roles as g where g.rolname like 'lf\_sql\_%')
  or d.defaclnamespace in (select x.oid from our_schemas as x))
  and a.grantee <> d.defaclrole
