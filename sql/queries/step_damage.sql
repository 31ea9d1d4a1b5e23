-- Damage from before an upgrade is still damage where the upgrade did not repair it: objects of
-- migrations are expected as the migrations made them, not as the upgrade found them. `found` is
-- the object before the upgrade, NULL where it was missing. The installer fills in @…@.
insert into lf_sql.expected_objects as e (kind, identity, facts)
select d.kind, d.identity, d.expected
from pg_catalog.jsonb_to_recordset(@rows@) as d (
  kind text, identity text, expected jsonb, found jsonb)
left join lf_sql.expected_objects as n on d.kind = n.kind and d.identity = n.identity
where n.facts - array['owner', 'acl', 'column acl', 'row security', 'forced']
  is not distinct from d.found
on conflict (kind, identity) do update set facts = excluded.facts;
