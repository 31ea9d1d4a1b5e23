-- The owner roles can do nothing else, are members of nothing, and no request role is a member of anything that helps.
-- breaks: grant lf_sql_engine to service_role
select r.rolname || ' has an attribute'
from pg_roles as r
where r.rolname in ('lf_sql_owner', 'lf_sql_engine')
  and (r.rolsuper or r.rolbypassrls or r.rolcanlogin or r.rolcreaterole or r.rolcreatedb or r.rolreplication)
union all
select r.rolname || ' has an attribute'
from request_roles as q
join pg_roles as r on r.oid = q.oid
where r.rolsuper or r.rolcreaterole or r.rolcreatedb or r.rolreplication
  or (r.rolbypassrls and r.rolname <> 'service_role')
union all
select m.member::regrole || ' is a member of ' || m.roleid::regrole
from pg_auth_members as m
where m.member::regrole::text in ('lf_sql_owner', 'lf_sql_engine', 'anon', 'authenticated', 'service_role')
