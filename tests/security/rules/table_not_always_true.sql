-- A condition that lets everything pass is for lf_sql_engine and service_role, and where a row is nobody's.
-- breaks: create policy planted on lenses.workflows for select to authenticated using (true)
select p.identity
from our_policies as p
cross join unnest(p.polroles) as r (oid)
where (p.using_text = 'true' or p.check_text = 'true')
  and r.oid not in (select g.oid from pg_roles as g where g.rolname in ('lf_sql_engine', 'service_role'))
  and (p.is_tenants or r.oid <> to_regrole('lf_sql_owner'))
