-- A tenant sees only its own rows. The RPCs (as lf_sql_owner) work on the caller's rows,
-- lf_sql_engine on all. service_role may read, insert and update, and the table's guards check what
-- it writes; it may not delete.

alter table lenses.workflow_runs enable row level security;
alter table lenses.workflow_runs force row level security;

drop policy if exists workflow_runs_authenticated_select on lenses.workflow_runs;
create policy workflow_runs_authenticated_select on lenses.workflow_runs
for select
to authenticated
using (lenser_id = (select lensers.get_auth_lenser_id()));

drop policy if exists workflow_runs_owner_all on lenses.workflow_runs;
create policy workflow_runs_owner_all on lenses.workflow_runs
to lf_sql_owner
using (lenser_id = (select lensers.get_auth_lenser_id()))
with check (lenser_id = (select lensers.get_auth_lenser_id()));

drop policy if exists workflow_runs_engine_all on lenses.workflow_runs;
create policy workflow_runs_engine_all on lenses.workflow_runs
to lf_sql_engine
using (true)
with check (true);

drop policy if exists workflow_runs_service_role_select on lenses.workflow_runs;
create policy workflow_runs_service_role_select on lenses.workflow_runs
for select
to service_role
using (true);

drop policy if exists workflow_runs_service_role_insert on lenses.workflow_runs;
create policy workflow_runs_service_role_insert on lenses.workflow_runs
for insert
to service_role
with check (true);

drop policy if exists workflow_runs_service_role_update on lenses.workflow_runs;
create policy workflow_runs_service_role_update on lenses.workflow_runs
for update
to service_role
using (true)
with check (true);
