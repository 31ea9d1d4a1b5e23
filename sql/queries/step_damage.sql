-- Damage from before an upgrade stays damage where the upgrade did not touch it: what migrations
-- make is expected as it was, not as it was found. `found` is what it was then, NULL where it was
-- gone. @…@ is filled in by the installer.
insert into lf_sql.expected_objects as e (kind, identity, facts)
select d.kind, d.identity, d.expected
from pg_catalog.jsonb_to_recordset(@rows@) as d (
  kind text, identity text, expected jsonb, found jsonb)
left join lf_sql.expected_objects as n on d.kind = n.kind and d.identity = n.identity
where n.facts - array['owner', 'acl', 'column acl', 'row security', 'forced']
  is not distinct from d.found
on conflict (kind, identity) do update set facts = excluded.facts;
