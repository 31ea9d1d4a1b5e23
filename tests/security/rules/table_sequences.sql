-- No request role touches a sequence.
-- breaks: grant usage on sequence agents.action_logs_id_seq to service_role
select c.oid::regclass || ' ' || r.rolname
from pg_class as c
join our_schemas as n on n.oid = c.relnamespace
cross join request_roles as r
where c.relkind = 'S' and has_sequence_privilege(r.oid, c.oid, 'usage, select, update')
