-- Functions in public that have one of our names, %(names)s, as `name(arguments)`.
select p.oid::pg_catalog.regprocedure::text as signature
from pg_catalog.pg_proc as p
where p.pronamespace = 'public'::pg_catalog.regnamespace and p.proname = any(%(names)s)
order by 1;
