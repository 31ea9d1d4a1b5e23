-- No rewrite rules.
-- breaks: create rule planted as on delete to lenses.workflows do instead nothing
select c.oid::regclass || ' ' || w.rulename
from pg_rewrite as w
join pg_class as c on c.oid = w.ev_class
join our_schemas as r on r.oid = c.relnamespace
where w.rulename <> '_RETURN'
