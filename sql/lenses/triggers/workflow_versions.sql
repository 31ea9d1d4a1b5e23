-- Versions never change and match their workflow, for every role, in every replication mode.

create or replace trigger workflow_versions_check
before insert on lenses.workflow_versions
for each row
execute function lenses.tg_workflow_versions_check();

create or replace trigger workflow_versions_refuse
before update or delete on lenses.workflow_versions
for each row
execute function lenses.tg_workflow_versions_refuse();

create or replace trigger workflow_versions_refuse_truncate
before truncate on lenses.workflow_versions
for each statement
execute function lenses.tg_workflow_versions_refuse();

alter table lenses.workflow_versions enable always trigger workflow_versions_check;
alter table lenses.workflow_versions enable always trigger workflow_versions_refuse;
alter table lenses.workflow_versions enable always trigger workflow_versions_refuse_truncate;

create or replace trigger workflow_versions_instants
before insert or update on lenses.workflow_versions
for each row
when (current_user <> 'lf_sql_engine')
execute function lenses.tg_check_instants();

alter table lenses.workflow_versions enable always trigger workflow_versions_instants;

create or replace trigger workflow_versions_tenant_here
before insert or update on lenses.workflow_versions
for each row
when (
  current_user <> 'lf_sql_engine'
  and not pg_catalog.pg_has_role(current_user, 'lf_sql_owner', 'usage')
)
execute function lensers.tg_require_here();

alter table lenses.workflow_versions enable always trigger workflow_versions_tenant_here;

create or replace trigger workflow_versions_tenant_held
before insert on lenses.workflow_versions
for each row
when (
  current_user not in ('lf_sql_owner', 'lf_sql_engine')
  and pg_catalog.pg_has_role(current_user, 'lf_sql_owner', 'usage')
)
execute function lensers.tg_hold_tenant();

alter table lenses.workflow_versions enable always trigger workflow_versions_tenant_held;
