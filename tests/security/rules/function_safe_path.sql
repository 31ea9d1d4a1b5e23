-- A pinned path is pg_catalog, pg_temp: no schema that anyone could plant something in, the temporary one last.
-- breaks: alter function lensers.fn_require_lenser() set search_path = ''
select f.identity
from our_functions as f
cross join unnest(f.proconfig) as s
where s like 'search\_path=%' and s <> 'search_path=pg_catalog, pg_temp'
