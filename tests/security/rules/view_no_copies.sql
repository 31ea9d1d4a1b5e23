-- No materialised view and no foreign table: policies do not reach them.
-- breaks: create materialized view lenses.planted as select 1 as one
select r.nspname || '.' || c.relname
from pg_class as c
join our_schemas as r on r.oid = c.relnamespace
where c.relkind in ('m', 'f')
