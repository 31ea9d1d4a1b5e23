-- owner: lf_sql_engine
-- The set-wise half of agents.fn_dispatch_gateway_crons, for rows that it has locked: inserts one
-- run for the newest slot of each cron, and moves the cron to its next slot after p_now. A slot
-- that already has a run, because a clock was set back, gets no second one.
create or replace function agents.fn_dispatch_gateway_cron_batch(p_ids uuid[], p_now timestamptz)
returns integer
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_runs integer;
begin
  insert into agents.gateway_cron_runs as r (
    lenser_id, gateway_id, gateway_cron_id, operation, scheduled_for, payload, created_at
  )
  select c.lenser_id, c.gateway_id, c.id, c.operation,
    agents.fn_newest_slot(c.cron_spec, c.timezone, c.next_run_at, p_now), c.payload, p_now
  from agents.gateway_crons c
  where c.id = any (p_ids)
  order by c.next_run_at, c.id
  on conflict (gateway_cron_id, scheduled_for) do nothing;
  get diagnostics v_runs = row_count;

  update agents.gateway_crons c
  set next_run_at = lenses.fn_cron_next_after_spec(c.cron_spec, c.timezone, p_now)
  where c.id = any (p_ids);
  return v_runs;
end;
$$;

comment on function agents.fn_dispatch_gateway_cron_batch(uuid[], timestamptz) is
  'Inserts the due run of each gateway cron in p_ids and moves its next_run_at past p_now. '
  'Returns the runs inserted.';
