create or replace trigger gateways_check
before insert or update on agents.gateways
for each row execute function agents.tg_gateways_check();

create or replace trigger gateways_instants
before insert or update on agents.gateways
for each row
when (current_user <> 'lf_sql_engine')
execute function lenses.tg_check_instants();

alter table agents.gateways enable always trigger gateways_instants;

create or replace trigger gateways_tenant_here
before insert or update on agents.gateways
for each row
when (
  current_user <> 'lf_sql_engine'
  and not pg_catalog.pg_has_role(current_user, 'lf_sql_owner', 'usage')
)
execute function lensers.tg_require_here();

alter table agents.gateways enable always trigger gateways_tenant_here;

create or replace trigger gateways_tenant_held
before insert or update on agents.gateways
for each row
when (
  current_user not in ('lf_sql_owner', 'lf_sql_engine')
  and pg_catalog.pg_has_role(current_user, 'lf_sql_owner', 'usage')
)
execute function lensers.tg_hold_tenant();

alter table agents.gateways enable always trigger gateways_tenant_held;
