-- owner: lf_sql_engine
-- For service_role, where no tick runs: the tick does the same each minute.
create or replace function lenses.fn_reap_workflow_runs()
returns integer
language sql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
select lenses.fn_reap_runs(now())
$$;

comment on function lenses.fn_reap_workflow_runs() is
  'Expired leases become failures of cause timeout (retried by policy, else timed_out), expired '
  'approvals timed_out. Returns how many; at most a thousand of each a call.';
