-- A unique key without the tenant tells one tenant what another has: keys of uuids alone cannot be guessed. Partitions number as their table does.
-- breaks: create unique index planted on lenses.workflows (title)
select c.relname
from our_tables as t
join pg_index as i on i.indrelid = t.oid and i.indisunique
join pg_class as c on c.oid = i.indexrelid
where t.is_tenants and not t.relispartition
  and not exists (
    select from pg_attribute as a
    where a.attrelid = t.oid and a.attnum = any(i.indkey::smallint[])
      and (a.attname = 'lenser_id' or a.atttypid = 'uuid'::regtype or a.attidentity = 'a')
  )
