-- Every constraint holds for the rows that are there, every index is whole.
-- breaks: alter table lenses.workflows add constraint planted check (title <> 'x') not valid
select o.conrelid::regclass || ' ' || o.conname
from pg_constraint as o
join our_tables as t on t.oid = o.conrelid
where not o.convalidated
union all
select i.indexrelid::regclass::text from pg_index as i join our_tables as t on t.oid = i.indrelid
where not i.indisvalid or not i.indisready
