-- A tenant sees only its own rows. The RPCs (as lf_sql_owner) work on the caller's rows,
-- lf_sql_engine on all. service_role may read, insert and update, and the table's guards check what
-- it writes; it may not delete.

alter table lenses.workflow_schedules enable row level security;
alter table lenses.workflow_schedules force row level security;

drop policy if exists workflow_schedules_authenticated_select on lenses.workflow_schedules;
create policy workflow_schedules_authenticated_select on lenses.workflow_schedules
for select
to authenticated
using (lenser_id = (select lensers.get_auth_lenser_id()));

drop policy if exists workflow_schedules_owner_all on lenses.workflow_schedules;
create policy workflow_schedules_owner_all on lenses.workflow_schedules
to lf_sql_owner
using (lenser_id = (select lensers.get_auth_lenser_id()))
with check (lenser_id = (select lensers.get_auth_lenser_id()));

drop policy if exists workflow_schedules_engine_all on lenses.workflow_schedules;
create policy workflow_schedules_engine_all on lenses.workflow_schedules
to lf_sql_engine
using (true)
with check (true);

drop policy if exists workflow_schedules_service_role_select on lenses.workflow_schedules;
create policy workflow_schedules_service_role_select on lenses.workflow_schedules
for select
to service_role
using (true);

drop policy if exists workflow_schedules_service_role_insert on lenses.workflow_schedules;
create policy workflow_schedules_service_role_insert on lenses.workflow_schedules
for insert
to service_role
with check (true);

drop policy if exists workflow_schedules_service_role_update on lenses.workflow_schedules;
create policy workflow_schedules_service_role_update on lenses.workflow_schedules
for update
to service_role
using (true)
with check (true);
