-- A tenant sees only its own rows. The RPCs (as lf_sql_owner) work on the caller's rows,
-- lf_sql_engine on all. service_role may read, insert and update, and the table's guards check what
-- it writes; it may not delete.

alter table lenses.workflows enable row level security;
alter table lenses.workflows force row level security;

drop policy if exists workflows_authenticated_select on lenses.workflows;
create policy workflows_authenticated_select on lenses.workflows
for select
to authenticated
using (lenser_id = (select lensers.get_auth_lenser_id()));

drop policy if exists workflows_owner_all on lenses.workflows;
create policy workflows_owner_all on lenses.workflows
to lf_sql_owner
using (lenser_id = (select lensers.get_auth_lenser_id()))
with check (lenser_id = (select lensers.get_auth_lenser_id()));

drop policy if exists workflows_engine_all on lenses.workflows;
create policy workflows_engine_all on lenses.workflows
to lf_sql_engine
using (true)
with check (true);

drop policy if exists workflows_service_role_select on lenses.workflows;
create policy workflows_service_role_select on lenses.workflows
for select
to service_role
using (true);

drop policy if exists workflows_service_role_insert on lenses.workflows;
create policy workflows_service_role_insert on lenses.workflows
for insert
to service_role
with check (true);

drop policy if exists workflows_service_role_update on lenses.workflows;
create policy workflows_service_role_update on lenses.workflows
for update
to service_role
using (true)
with check (true);
