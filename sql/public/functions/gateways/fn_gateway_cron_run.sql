-- For the owner: runs the cron at once, whether it is active or not; its slots are not affected.
create or replace function public.fn_gateway_cron_run(p_cron_id uuid, p_payload jsonb default null)
returns agents.gateway_cron_runs
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_cron agents.gateway_crons;
  v_row agents.gateway_cron_runs;
begin
  perform lensers.fn_hold_lenser();
  v_cron := agents.fn_require_gateway_cron(p_cron_id);
  perform lenses.fn_check_json(p_payload, 'p_payload', 65536, 32, 10000);
  if jsonb_typeof(p_payload) <> 'object' then
    raise exception using
      errcode = '22023',
      column = 'payload',
      message = format('p_payload must be a JSON object, not %s', left(p_payload::text, 60)),
      hint = 'Leave it out to use the cron''s own payload.';
  end if;
  insert into agents.gateway_cron_runs as r (
    lenser_id, gateway_id, gateway_cron_id, operation, payload
  )
  values (
    v_cron.lenser_id, v_cron.gateway_id, v_cron.id, v_cron.operation,
    coalesce(p_payload, v_cron.payload)
  )
  returning r.* into v_row;
  return v_row;
end;
$$;

comment on function public.fn_gateway_cron_run(uuid, jsonb) is
  'Makes a run of a gateway cron of the caller at once (scheduled_for NULL), with p_payload in '
  'place of the cron''s own where given. Returns the run, for the gateway''s runtime to claim. '
  '22023: p_payload is no object, or larger than 64 KB; 42501: not the caller''s, or unknown.';
