create or replace trigger gateway_cron_runs_check
before insert or update on agents.gateway_cron_runs
for each row execute function agents.tg_gateway_cron_runs_check();

create or replace trigger gateway_cron_runs_follow_insert
after insert on agents.gateway_cron_runs
for each row when (new.gateway_cron_id is not null)
execute function agents.tg_gateway_cron_runs_follow();

create or replace trigger gateway_cron_runs_follow_update
after update of status on agents.gateway_cron_runs
for each row when (new.gateway_cron_id is not null and new.status is distinct from old.status)
execute function agents.tg_gateway_cron_runs_follow();

create or replace trigger gateway_cron_runs_instants
before insert or update on agents.gateway_cron_runs
for each row
when (current_user <> 'lf_sql_engine')
execute function lenses.tg_check_instants();

alter table agents.gateway_cron_runs enable always trigger gateway_cron_runs_instants;

create or replace trigger gateway_cron_runs_tenant_here
before insert or update on agents.gateway_cron_runs
for each row
when (
  current_user <> 'lf_sql_engine'
  and not pg_catalog.pg_has_role(current_user, 'lf_sql_owner', 'usage')
)
execute function lensers.tg_require_here();

alter table agents.gateway_cron_runs enable always trigger gateway_cron_runs_tenant_here;

create or replace trigger gateway_cron_runs_tenant_held
before insert on agents.gateway_cron_runs
for each row
when (
  current_user not in ('lf_sql_owner', 'lf_sql_engine')
  and pg_catalog.pg_has_role(current_user, 'lf_sql_owner', 'usage')
)
execute function lensers.tg_hold_tenant();

alter table agents.gateway_cron_runs enable always trigger gateway_cron_runs_tenant_held;
