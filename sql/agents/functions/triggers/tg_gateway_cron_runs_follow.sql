-- owner: lf_sql_engine
-- Keeps the cron's last_run_at and last_status at the time and status of its newest run.
create or replace function agents.tg_gateway_cron_runs_follow()
returns trigger
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  update agents.gateway_crons c
  set last_run_at = new.created_at, last_status = new.status
  where c.id = new.gateway_cron_id and (c.last_run_at is null or c.last_run_at <= new.created_at);
  return null;
end;
$$;

comment on function agents.tg_gateway_cron_runs_follow() is
  'Keeps gateway_crons.last_run_at and last_status equal to its newest run.';
