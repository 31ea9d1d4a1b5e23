-- Nothing of ours is published.
-- breaks: create publication planted for table lenses.workflows
select p.pubname || ' ' || r.prrelid::regclass
from pg_publication_rel as r
join pg_publication as p on p.oid = r.prpubid
join our_tables as t on t.oid = r.prrelid
union all
select p.pubname from pg_publication as p where p.puballtables
union all
select p.pubname || ' schema ' || n.nspname
from pg_publication_namespace as x
join pg_publication as p on p.oid = x.pnpubid
join our_schemas as n on n.oid = x.pnnspid
