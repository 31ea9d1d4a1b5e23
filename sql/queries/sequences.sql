-- The columns of our tables that a sequence fills: one behind its column's highest value makes
-- every insert fail.
select
  n.nspname::text as schema_name,
  c.relname::text as table_name,
  a.attname::text as column_name,
  s.oid::pg_catalog.regclass::text as sequence_name,
  pg_catalog.pg_sequence_last_value(s.oid) as last_value
from pg_catalog.pg_class as s
inner join pg_catalog.pg_depend as d
  on d.classid = 'pg_catalog.pg_class'::pg_catalog.regclass and d.objid = s.oid
    and d.deptype in ('a', 'i')
inner join pg_catalog.pg_class as c on c.oid = d.refobjid
inner join pg_catalog.pg_namespace as n on n.oid = c.relnamespace
inner join pg_catalog.pg_attribute as a on a.attrelid = c.oid and a.attnum = d.refobjsubid
where
  s.relkind = 'S'
  and d.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass
  and n.nspname in ('lf_sql', 'lensers', 'lenses', 'agents', 'automation')
order by 1, 2, 3;
