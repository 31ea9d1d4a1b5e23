-- Validates rows before they are written; afterwards keeps the definition as a version, and deletes
-- the schedules of a deleted workflow.

create or replace trigger workflows_check
before insert or update on lenses.workflows
for each row
execute function lenses.tg_workflows_check();

create or replace trigger workflows_version_insert
after insert on lenses.workflows
for each row
execute function lenses.tg_workflows_version();

create or replace trigger workflows_version_update
after update on lenses.workflows
for each row
when (old.version <> new.version)
execute function lenses.tg_workflows_version();

create or replace trigger workflows_deleted
after update on lenses.workflows
for each row
when (old.status <> 'deleted' and new.status = 'deleted')
execute function lenses.tg_workflows_deleted();

create or replace trigger workflows_guard_approval
before update of status on lenses.workflows
for each row
when (
  current_user not in ('lf_sql_owner', 'lf_sql_engine')
  and old.status <> 'deleted' and new.status = 'deleted'
)
execute function lenses.tg_workflows_approval();

alter table lenses.workflows enable always trigger workflows_guard_approval;

create or replace trigger workflows_instants
before insert or update on lenses.workflows
for each row
when (current_user <> 'lf_sql_engine')
execute function lenses.tg_check_instants();

alter table lenses.workflows enable always trigger workflows_instants;

create or replace trigger workflows_tenant_here
before insert or update on lenses.workflows
for each row
when (
  current_user <> 'lf_sql_engine'
  and not pg_catalog.pg_has_role(current_user, 'lf_sql_owner', 'usage')
)
execute function lensers.tg_require_here();

alter table lenses.workflows enable always trigger workflows_tenant_here;

create or replace trigger workflows_tenant_held
before insert or update on lenses.workflows
for each row
when (
  current_user not in ('lf_sql_owner', 'lf_sql_engine')
  and pg_catalog.pg_has_role(current_user, 'lf_sql_owner', 'usage')
)
execute function lensers.tg_hold_tenant();

alter table lenses.workflows enable always trigger workflows_tenant_held;
