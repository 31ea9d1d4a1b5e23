-- No definer function belongs to a role that row security does not bind.
-- breaks: alter function lensers.get_auth_lenser_id() owner to session_user
select f.identity
from our_functions as f
join pg_roles as r on r.oid = f.proowner
where f.prosecdef and (r.rolsuper or r.rolbypassrls)
