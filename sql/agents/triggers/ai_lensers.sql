-- Instants that are written by hand must lie in the years 1970 to 9999.
create or replace trigger ai_lensers_instants
before insert or update on agents.ai_lensers
for each row
when (current_user <> 'lf_sql_engine')
execute function lenses.tg_check_instants();

alter table agents.ai_lensers enable always trigger ai_lensers_instants;

create or replace trigger ai_lensers_lenser
before update of lenser_id on agents.ai_lensers
for each row
when (old.lenser_id is distinct from new.lenser_id)
execute function agents.tg_lenser_stays();

alter table agents.ai_lensers enable always trigger ai_lensers_lenser;

create or replace trigger ai_lensers_tenant_here
before insert or update on agents.ai_lensers
for each row
when (
  current_user <> 'lf_sql_engine'
  and not pg_catalog.pg_has_role(current_user, 'lf_sql_owner', 'usage')
)
execute function lensers.tg_require_here();

alter table agents.ai_lensers enable always trigger ai_lensers_tenant_here;

create or replace trigger ai_lensers_tenant_held
before insert or update on agents.ai_lensers
for each row
when (
  current_user not in ('lf_sql_owner', 'lf_sql_engine')
  and pg_catalog.pg_has_role(current_user, 'lf_sql_owner', 'usage')
)
execute function lensers.tg_hold_tenant();

alter table agents.ai_lensers enable always trigger ai_lensers_tenant_held;
