-- Every function pins its search_path.
-- breaks: alter function lensers.fn_require_lenser() reset search_path
select f.identity
from our_functions as f
where not exists (select from unnest(f.proconfig) as s where s like 'search\_path=%')
