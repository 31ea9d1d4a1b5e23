-- No index is another one's beginning, with the same predicate and no promise of its own.
-- breaks: create index planted on lenses.workflows (lenser_id)
select c.relname
from our_tables as t
join pg_index as i on i.indrelid = t.oid and not i.indisunique
join pg_class as c on c.oid = i.indexrelid
where exists (
  select from pg_index as o
  where o.indrelid = t.oid and o.indexrelid <> i.indexrelid
    and (o.indkey::text || ' ') like (i.indkey::text || ' %')
    and (o.indoption::text || ' ') like (i.indoption::text || ' %')
    and o.indexprs is null and i.indexprs is null
    and pg_get_expr(o.indpred, o.indrelid) is not distinct from pg_get_expr(i.indpred, i.indrelid)
    and (o.indkey::text <> i.indkey::text or o.indexrelid < i.indexrelid)
)
