-- owner: lf_sql_engine
-- Claims up to p_limit runs for a delivery and posts them; returns how many. Both or neither: a run
-- is running if and only if its request stands in pg_net's queue. The body is what a claim gives,
-- so the endpoint has the worker_id and attempt by which it may complete the run itself.
create or replace function lenses.fn_post_runs(
  p_delivery lenses.deliveries,
  p_keys bytea[],
  p_now timestamptz,
  p_limit integer
)
returns integer
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
set timezone = 'UTC'
as $$
declare
  v_run lenses.workflow_runs;
  v_id uuid;
  v_count integer := 0;
begin
  foreach v_id in array lenses.fn_pick_delivery_runs(p_delivery.workflow_id, p_now, p_limit) loop
    update lenses.workflow_runs as r
    set status = 'running', worker_id = 'delivery:' || p_delivery.name, started_at = p_now,
      lease_expires_at = p_now + p_delivery.lease_ms * interval '1 millisecond'
    where r.id = v_id
    returning r.* into v_run;
    perform lenses.fn_post_request(
      p_delivery, p_keys, v_run.id || ':' || v_run.attempt,
      to_jsonb(v_run) || jsonb_build_object('definition', (
        select v.definition from lenses.workflow_versions as v
        where v.workflow_id = v_run.workflow_id and v.version = v_run.workflow_version)),
      v_run.id, null, v_run.attempt, v_run.lease_expires_at);
    v_count := v_count + 1;
  end loop;
  return v_count;
end;
$$;
