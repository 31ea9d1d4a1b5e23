-- Functions in public with a name of ours, as `name(arguments)`. %(names)s: our names.
select p.oid::pg_catalog.regprocedure::text as signature
from pg_catalog.pg_proc as p
where p.pronamespace = 'public'::pg_catalog.regnamespace and p.proname = any(%(names)s)
order by 1;
