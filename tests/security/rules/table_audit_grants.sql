-- No request role has more than SELECT on an audit table, nor on a column of one.
-- breaks: grant insert (payload) on agents.action_logs to service_role
select t.identity || ' ' || r.rolname || ' ' || v.verb
from audit_tables as t
cross join request_roles as r
cross join unnest(array['insert', 'update', 'references']) as v (verb)
where has_any_column_privilege(r.oid, t.oid, v.verb)
union all
select t.identity || ' ' || r.rolname || ' ' || v.verb
from audit_tables as t
cross join request_roles as r
cross join unnest(array['delete', 'truncate', 'trigger']) as v (verb)
where has_table_privilege(r.oid, t.oid, v.verb)
