-- The state machine of lenses.workflow_runs: where a run may go from a status. Back to
-- pending_approval: what was approved has changed. Back to pending: another attempt. From an end
-- only lenses.fn_retry_workflow_run leads back, which the guard lets pass. PL/pgSQL, since each
-- transition calls it and an SQL function would be planned anew in each transaction.
create or replace function lenses.fn_run_next_states(p_status text)
returns text[]
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return case p_status
    when 'pending_approval' then array['pending', 'cancelled', 'timed_out']
    when 'pending' then array['pending_approval', 'running', 'cancelled']
    when 'running' then array['pending', 'completed', 'failed', 'cancelled', 'timed_out']
    else array[]::text[] end;
end;
$$;
