-- A tenant sees its own calendars and the seeds (lenser_id NULL). The RPCs (as lf_sql_owner) write
-- only the caller's. The table's trigger protects the seeds, because a trigger raises an error.

alter table lenses.schedule_calendars enable row level security;
alter table lenses.schedule_calendars force row level security;

drop policy if exists schedule_calendars_authenticated_select on lenses.schedule_calendars;
create policy schedule_calendars_authenticated_select on lenses.schedule_calendars
for select
to authenticated
using (lenser_id is null or lenser_id = (select lensers.get_auth_lenser_id()));

drop policy if exists schedule_calendars_owner_select on lenses.schedule_calendars;
create policy schedule_calendars_owner_select on lenses.schedule_calendars
for select
to lf_sql_owner
using (lenser_id is null or lenser_id = (select lensers.get_auth_lenser_id()));

drop policy if exists schedule_calendars_owner_insert on lenses.schedule_calendars;
create policy schedule_calendars_owner_insert on lenses.schedule_calendars
for insert
to lf_sql_owner
with check (lenser_id = (select lensers.get_auth_lenser_id()));

drop policy if exists schedule_calendars_owner_update on lenses.schedule_calendars;
create policy schedule_calendars_owner_update on lenses.schedule_calendars
for update
to lf_sql_owner
using (lenser_id = (select lensers.get_auth_lenser_id()))
with check (lenser_id = (select lensers.get_auth_lenser_id()));

drop policy if exists schedule_calendars_owner_delete on lenses.schedule_calendars;
create policy schedule_calendars_owner_delete on lenses.schedule_calendars
for delete
to lf_sql_owner
using (lenser_id = (select lensers.get_auth_lenser_id()));

drop policy if exists schedule_calendars_engine_all on lenses.schedule_calendars;
create policy schedule_calendars_engine_all on lenses.schedule_calendars
to lf_sql_engine
using (true)
with check (true);

drop policy if exists schedule_calendars_service_role_select on lenses.schedule_calendars;
create policy schedule_calendars_service_role_select on lenses.schedule_calendars
for select
to service_role
using (true);

drop policy if exists schedule_calendars_service_role_insert on lenses.schedule_calendars;
create policy schedule_calendars_service_role_insert on lenses.schedule_calendars
for insert
to service_role
with check (true);

drop policy if exists schedule_calendars_service_role_update on lenses.schedule_calendars;
create policy schedule_calendars_service_role_update on lenses.schedule_calendars
for update
to service_role
using (true)
with check (true);
