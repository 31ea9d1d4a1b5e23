-- One signature a name within a schema.
-- breaks: create function lensers.fn_require_lenser(p integer) returns integer language sql return p
select f.nspname || '.' || f.proname
from our_functions as f
group by f.nspname, f.proname
having count(*) > 1
