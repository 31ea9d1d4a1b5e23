-- Deleting a row never scans the tables that point at it.
-- breaks: drop index agents.teams_lenser_id_idx
select o.conrelid::regclass || ' ' || o.conname
from pg_constraint as o
join our_tables as t on t.oid = o.conrelid
where o.contype = 'f' and not exists (
  select from pg_index as i
  where i.indrelid = o.conrelid and i.indisvalid
    and (string_to_array(i.indkey::text, ' ')::smallint[])[1:cardinality(o.conkey)] @> o.conkey
)
