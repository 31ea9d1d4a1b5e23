-- For the owner. Deletes its crons and their runs too. Locks runs first, then crons, then the
-- gateway, as completions do.
create or replace function public.fn_delete_gateway(p_gateway_id uuid)
returns void
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_id uuid;
begin
  perform lensers.fn_hold_lenser();
  v_id := (agents.fn_require_gateway(p_gateway_id)).id;
  perform 1
  from agents.gateway_cron_runs r
  where r.gateway_id = v_id and r.status in ('pending', 'running')
  order by r.id
  for update;
  perform 1 from agents.gateway_crons c where c.gateway_id = v_id order by c.id for update;
  delete from agents.gateways g where g.id = v_id;
end;
$$;

comment on function public.fn_delete_gateway(uuid) is
  'Deletes a gateway of the caller with its crons and their runs. 42501: not the caller''s, or '
  'unknown.';
