-- owner: lf_sql_engine
-- Raises 55006 where tenants that are about to depart have runs that an executor or a gateway works
-- on.
create or replace function lenses.fn_refuse_running(p_lenser_ids uuid[])
returns void
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_runs bigint := (
    select count(*) from lenses.workflow_runs as r
    where r.lenser_id = any (p_lenser_ids) and r.status = 'running');
  v_gateway_runs bigint := (
    select count(*) from agents.gateway_cron_runs as r
    where r.lenser_id = any (p_lenser_ids) and r.status = 'running');
begin
  if v_runs + v_gateway_runs > 0 then
    raise exception using
      errcode = '55006',
      message = format(
        'tenants cannot depart while %s of their runs and %s of their gateways'' runs are running',
        v_runs, v_gateway_runs),
      hint = 'Try again when they have ended, or cancel them: lf-sql runs cancel.';
  end if;
end;
$$;
