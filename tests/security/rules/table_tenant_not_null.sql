-- A row of nobody's would be everybody's.
-- breaks: alter table lenses.workflows alter column lenser_id drop not null
select t.identity
from our_tables as t
join pg_attribute as a on a.attrelid = t.oid and a.attname = 'lenser_id'
where not a.attnotnull
