create or replace trigger workflow_assignments_check
before insert or update on agents.workflow_assignments
for each row
execute function agents.tg_workflow_assignments_check();

create or replace trigger workflow_assignments_guard_approval
before update of approval_policy, workflow_id on agents.workflow_assignments
for each row
when (
  current_user not in ('lf_sql_owner', 'lf_sql_engine')
  and (old.approval_policy, old.workflow_id) is distinct from (new.approval_policy, new.workflow_id)
)
execute function agents.tg_workflow_assignments_approval();

alter table agents.workflow_assignments
  enable always trigger workflow_assignments_guard_approval;

create or replace trigger workflow_assignments_follow
after update of queue_policy, explicit_defaults on agents.workflow_assignments
for each row
when (
  (old.queue_policy, old.explicit_defaults)
  is distinct from (new.queue_policy, new.explicit_defaults)
)
execute function agents.tg_workflow_assignments_follow();

create or replace trigger workflow_assignments_instants
before insert or update on agents.workflow_assignments
for each row
when (current_user <> 'lf_sql_engine')
execute function lenses.tg_check_instants();
alter table agents.workflow_assignments enable always trigger workflow_assignments_check;

alter table agents.workflow_assignments enable always trigger workflow_assignments_instants;

create or replace trigger workflow_assignments_tenant_here
before insert or update on agents.workflow_assignments
for each row
when (
  current_user <> 'lf_sql_engine'
  and not pg_catalog.pg_has_role(current_user, 'lf_sql_owner', 'usage')
)
execute function lensers.tg_require_here();

alter table agents.workflow_assignments enable always trigger workflow_assignments_tenant_here;

create or replace trigger workflow_assignments_tenant_held
before insert or update on agents.workflow_assignments
for each row
when (
  current_user not in ('lf_sql_owner', 'lf_sql_engine')
  and pg_catalog.pg_has_role(current_user, 'lf_sql_owner', 'usage')
)
execute function lensers.tg_hold_tenant();

alter table agents.workflow_assignments enable always trigger workflow_assignments_tenant_held;
