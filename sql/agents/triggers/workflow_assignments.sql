create or replace trigger workflow_assignments_check
before insert or update on agents.workflow_assignments
for each row
execute function agents.tg_workflow_assignments_check();
