-- No request role reaches pg_cron.
-- breaks: create schema if not exists cron; grant usage on schema cron to authenticated
select 'cron ' || r.rolname
from request_roles as r
join pg_namespace as n on n.nspname = 'cron'
where has_schema_privilege(r.oid, n.oid, 'usage')
