-- No setting of a role or of the database is ours, and none of ours is bent by one.
-- breaks: alter role lf_sql_engine set row_security = off
select coalesce(nullif(s.setrole, 0)::regrole::text, 'database') || ' ' || c
from pg_db_role_setting as s
cross join unnest(s.setconfig) as c
where s.setrole in (select r.oid from pg_roles as r where r.rolname like 'lf\_sql\_%')
  or c ~ '^(row_security|session_replication_role|request\.jwt)'
