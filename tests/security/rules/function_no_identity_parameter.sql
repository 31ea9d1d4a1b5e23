-- A tenant cannot say who he is by an argument.
-- breaks: create function public.fn_observe_schedules(p_lenser_id uuid) returns uuid language sql set search_path = pg_catalog, pg_temp return p_lenser_id; insert into lf_sql.sources values ('function', 'public', 'fn_observe_schedules', 'owner', false) on conflict do nothing; grant execute on function public.fn_observe_schedules(uuid) to authenticated
select f.identity
from our_functions as f
cross join unnest(f.proargnames) as a (name)
where has_function_privilege('authenticated', f.oid, 'execute')
  and a.name ~ '^p_(lenser|user|owner|tenant|profile)(_id)?$'
