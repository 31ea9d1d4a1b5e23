-- Not on next_run_at, last_run_at and last_status: what the tick writes is not judged again.
create or replace trigger gateway_crons_check
before insert or update of
  id, lenser_id, gateway_id, operation, cron_expr, cron_spec, timezone, payload, is_active
on agents.gateway_crons
for each row execute function agents.tg_gateway_crons_check();

create or replace trigger gateway_crons_next
before update of next_run_at on agents.gateway_crons
for each row
when (new.next_run_at is null and current_user <> 'lf_sql_engine')
execute function agents.tg_gateway_crons_next();
