-- No operator, cast, collation or conversion in our schemas, none in public that is ours.
-- breaks: create operator lenses.=== (leftarg = uuid, rightarg = uuid, function = uuid_eq)
select 'operator ' || o.oid::regoperator
from pg_operator as o
where o.oprnamespace in (select r.oid from our_schemas as r) or o.oprowner::regrole::text like 'lf\_sql\_%'
union all
select 'cast ' || c.castsource::regtype || ' ' || c.casttarget::regtype
from pg_cast as c
join our_functions as f on f.oid = c.castfunc
union all
select 'collation ' || c.collname from pg_collation as c where c.collnamespace in (select r.oid from our_schemas as r)
