-- PUBLIC executes nothing.
-- breaks: grant execute on function lensers.get_auth_lenser_id() to public
select f.identity
from our_functions as f
cross join aclexplode(coalesce(f.proacl, acldefault('f', f.proowner))) as a
where a.grantee = 0
