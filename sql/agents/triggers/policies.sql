create or replace trigger policies_fill
before insert or update on agents.policies
for each row
execute function agents.tg_policies_fill();

create or replace trigger policies_instants
before insert or update on agents.policies
for each row
when (current_user <> 'lf_sql_engine')
execute function lenses.tg_check_instants();

alter table agents.policies enable always trigger policies_instants;

create or replace trigger policies_tenant_here
before insert or update on agents.policies
for each row
when (
  current_user <> 'lf_sql_engine'
  and not pg_catalog.pg_has_role(current_user, 'lf_sql_owner', 'usage')
)
execute function lensers.tg_require_here();

alter table agents.policies enable always trigger policies_tenant_here;

create or replace trigger policies_tenant_held
before insert or update on agents.policies
for each row
when (
  current_user not in ('lf_sql_owner', 'lf_sql_engine')
  and pg_catalog.pg_has_role(current_user, 'lf_sql_owner', 'usage')
)
execute function lensers.tg_hold_tenant();

alter table agents.policies enable always trigger policies_tenant_held;
