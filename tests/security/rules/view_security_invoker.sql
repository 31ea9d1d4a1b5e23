-- A view shows what its reader may see.
-- breaks: create view lenses.planted as select 1 as one
select r.nspname || '.' || c.relname
from pg_class as c
join our_schemas as r on r.oid = c.relnamespace
where c.relkind = 'v' and not coalesce(c.reloptions @> array['security_invoker=true'], false)
