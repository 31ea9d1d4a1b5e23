-- Instants carry their zone; text has no length in its type; json is jsonb.
-- breaks: alter table lenses.workflows add column planted timestamp
select t.identity || '.' || a.attname || ' ' || format_type(a.atttypid, a.atttypmod)
from our_tables as t
join pg_attribute as a on a.attrelid = t.oid and a.attnum > 0 and not a.attisdropped
where a.atttypid in (
  'timestamp'::regtype, 'time'::regtype, 'timetz'::regtype, 'varchar'::regtype, 'bpchar'::regtype,
  'json'::regtype, 'money'::regtype, 'xml'::regtype, 'float4'::regtype, 'float8'::regtype
)
or (a.attname like '%\_at' and a.atttypid <> 'timestamptz'::regtype)
or (a.attname ~ '^is_' and a.atttypid <> 'bool'::regtype)
