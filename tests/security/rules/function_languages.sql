-- SQL and PL/pgSQL alone.
-- breaks: create function lenses.planted(cstring) returns integer language internal as 'int4in'
select f.identity
from our_functions as f
join pg_language as l on l.oid = f.prolang
where l.lanname not in ('sql', 'plpgsql')
