-- What policies compare is the first column of an index.
-- breaks: drop index lenses.workflows_lenser_id_created_at_idx
select t.identity
from our_tables as t
where t.is_tenants and not exists (
  select from pg_index as i
  join pg_attribute as a on a.attrelid = i.indrelid and a.attnum = i.indkey[0]
  where i.indrelid = t.oid and a.attname = 'lenser_id' and i.indpred is null
)
