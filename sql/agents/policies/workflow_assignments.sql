-- A tenant sees only its own rows. The RPCs (as lf_sql_owner) work on the caller's rows,
-- lf_sql_engine on all. service_role may read, insert and update, and the table's guards check what
-- it writes; it may not delete.

alter table agents.workflow_assignments enable row level security;
alter table agents.workflow_assignments force row level security;

drop policy if exists workflow_assignments_authenticated_select on agents.workflow_assignments;
create policy workflow_assignments_authenticated_select on agents.workflow_assignments
for select
to authenticated
using (lenser_id = (select lensers.get_auth_lenser_id()));

drop policy if exists workflow_assignments_owner_all on agents.workflow_assignments;
create policy workflow_assignments_owner_all on agents.workflow_assignments
to lf_sql_owner
using (lenser_id = (select lensers.get_auth_lenser_id()))
with check (lenser_id = (select lensers.get_auth_lenser_id()));

drop policy if exists workflow_assignments_engine_all on agents.workflow_assignments;
create policy workflow_assignments_engine_all on agents.workflow_assignments
to lf_sql_engine
using (true)
with check (true);

drop policy if exists workflow_assignments_service_role_select on agents.workflow_assignments;
create policy workflow_assignments_service_role_select on agents.workflow_assignments
for select
to service_role
using (true);

drop policy if exists workflow_assignments_service_role_insert on agents.workflow_assignments;
create policy workflow_assignments_service_role_insert on agents.workflow_assignments
for insert
to service_role
with check (true);

drop policy if exists workflow_assignments_service_role_update on agents.workflow_assignments;
create policy workflow_assignments_service_role_update on agents.workflow_assignments
for update
to service_role
using (true)
with check (true);
