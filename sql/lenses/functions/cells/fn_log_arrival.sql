-- owner: lf_sql_engine
-- Writes into the trail of each waiting run of the tenants that it goes on here.
create or replace function lenses.fn_log_arrival(p_lenser_ids uuid[])
returns void
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  with waiting as (
    update lenses.workflow_runs as r set last_event_seq = r.last_event_seq + 1
    where r.lenser_id = any (p_lenser_ids) and r.status in ('pending_approval', 'pending')
    returning r.lenser_id, r.id, r.last_event_seq, r.status
  )

  insert into lenses.workflow_run_events (lenser_id, run_id, seq, event_type, payload)
  select w.lenser_id, w.id, w.last_event_seq, 'run.arrived', jsonb_build_object('status', w.status)
  from waiting as w;
end;
$$;
