-- What changes something for a client reads the server's clock, never the client's.
-- breaks: create function lenses.planted(p_now timestamptz) returns void language sql as ''; grant execute on function lenses.planted(timestamptz) to service_role
select f.identity
from our_functions as f
join request_roles as r on has_function_privilege(r.oid, f.oid, 'execute')
cross join unnest(f.proargnames) as a (name)
where f.provolatile = 'v' and a.name in ('p_now', 'p_clock', 'p_at', 'p_today')
