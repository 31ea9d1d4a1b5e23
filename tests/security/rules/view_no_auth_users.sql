-- No view of ours hands on another schema's tables.
-- breaks: create schema planted; create table planted.users (id integer); create view lenses.planted with (security_invoker = true) as select id from planted.users
select distinct r.nspname || '.' || c.relname || ' ' || d.refobjid::regclass
from pg_class as c
join our_schemas as r on r.oid = c.relnamespace
join pg_rewrite as w on w.ev_class = c.oid
join pg_depend as d
  on d.classid = 'pg_rewrite'::regclass and d.objid = w.oid and d.refclassid = 'pg_class'::regclass
join pg_class as o on o.oid = d.refobjid
where c.relkind = 'v' and o.relnamespace not in (select x.oid from our_schemas as x)
