-- For the owner. Its runs stay and go on. Locks runs first, then the cron, as completions do.
create or replace function public.fn_gateway_cron_remove(p_cron_id uuid)
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
  v_id := (agents.fn_require_gateway_cron(p_cron_id)).id;
  perform 1
  from agents.gateway_cron_runs r
  where r.gateway_cron_id = v_id and r.status in ('pending', 'running')
  order by r.id
  for update;
  delete from agents.gateway_crons c where c.id = v_id;
end;
$$;

comment on function public.fn_gateway_cron_remove(uuid) is
  'Deletes a cron of the caller''s gateways; its runs stay. 42501: not the caller''s, or unknown.';
