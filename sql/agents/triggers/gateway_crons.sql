-- Leaves out next_run_at, last_run_at and last_status: the tick's own writes are not checked again.
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

-- Quotas. The tick writes no payload.
create or replace trigger gateway_crons_quota_insert
after insert on agents.gateway_crons
referencing new table as new_rows
for each statement execute function agents.tg_gateway_crons_quota();

create or replace trigger gateway_crons_quota_delete
after delete on agents.gateway_crons
referencing old table as old_rows
for each statement execute function agents.tg_gateway_crons_quota();

create or replace trigger gateway_crons_quota_truncate
after truncate on agents.gateway_crons
for each statement execute function agents.tg_gateway_crons_quota();

create or replace trigger gateway_crons_quota_change
after update of payload on agents.gateway_crons
for each row
when (old.payload::text is distinct from new.payload::text)
execute function agents.tg_gateway_crons_quota_change();

create or replace trigger gateway_crons_instants
before insert or update on agents.gateway_crons
for each row
when (current_user <> 'lf_sql_engine')
execute function lenses.tg_check_instants();

alter table agents.gateway_crons enable always trigger gateway_crons_instants;

create or replace trigger gateway_crons_tenant_here
before insert or update on agents.gateway_crons
for each row
when (
  current_user <> 'lf_sql_engine'
  and not pg_catalog.pg_has_role(current_user, 'lf_sql_owner', 'usage')
)
execute function lensers.tg_require_here();

alter table agents.gateway_crons enable always trigger gateway_crons_tenant_here;

create or replace trigger gateway_crons_tenant_held
before insert or update on agents.gateway_crons
for each row
when (
  current_user not in ('lf_sql_owner', 'lf_sql_engine')
  and pg_catalog.pg_has_role(current_user, 'lf_sql_owner', 'usage')
)
execute function lensers.tg_hold_tenant();

alter table agents.gateway_crons enable always trigger gateway_crons_tenant_held;
