-- What can be long is bounded: by a CHECK here, or, as the list says, by a trigger; of a partition, in its table.
-- breaks: alter table lenses.workflows add column planted text
select t.identity || '.' || a.attname
from our_tables as t
join pg_attribute as a on a.attrelid = t.oid and a.attnum > 0 and not a.attisdropped
where t.nspname <> 'lf_sql' and not t.relispartition
  and (a.atttypid in ('text'::regtype, 'jsonb'::regtype) or a.atttypid::regtype::text like '%[]')
  and not exists (
    select from pg_constraint as o
    where o.conrelid = t.oid and o.contype = 'c' and a.attnum = any(o.conkey)
  )
