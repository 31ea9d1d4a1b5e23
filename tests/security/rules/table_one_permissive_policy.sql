-- One permissive policy a role and verb: two are joined by OR, which nobody reads that way.
-- breaks: create policy planted on lenses.workflows for select to authenticated using (lenser_id = (select lensers.get_auth_lenser_id()))
select distinct p.table_name || ' ' || coalesce(nullif(r.oid, 0)::regrole::text, 'PUBLIC') || ' ' || v.verb
from our_policies as p
cross join unnest(p.polroles) as r (oid)
cross join unnest(array['r', 'a', 'w', 'd']) as v (verb)
where p.polpermissive and p.polcmd::text in ('*', v.verb)
group by p.table_name, r.oid, v.verb
having count(*) > 1
