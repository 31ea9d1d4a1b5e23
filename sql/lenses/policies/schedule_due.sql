-- The dispatcher's index of lenses.workflow_schedules; a tenant sees its own due times. The RPCs
-- (as lf_sql_owner) reach only the caller's rows. service_role reads, inserts and updates; no
-- request role deletes.

alter table lenses.schedule_due enable row level security;
alter table lenses.schedule_due force row level security;

drop policy if exists schedule_due_owner_all on lenses.schedule_due;
create policy schedule_due_owner_all on lenses.schedule_due
to lf_sql_owner
using (lenser_id = (select lensers.get_auth_lenser_id()))
with check (lenser_id = (select lensers.get_auth_lenser_id()));

drop policy if exists schedule_due_engine_all on lenses.schedule_due;
create policy schedule_due_engine_all on lenses.schedule_due
to lf_sql_engine
using (true)
with check (true);

drop policy if exists schedule_due_service_role_select on lenses.schedule_due;
create policy schedule_due_service_role_select on lenses.schedule_due
for select
to service_role
using (true);

drop policy if exists schedule_due_service_role_insert on lenses.schedule_due;
create policy schedule_due_service_role_insert on lenses.schedule_due
for insert
to service_role
with check (true);

drop policy if exists schedule_due_service_role_update on lenses.schedule_due;
create policy schedule_due_service_role_update on lenses.schedule_due
for update
to service_role
using (true)
with check (true);
