-- The dispatcher's settings: no tenant sees them. The RPCs read, lf_sql_engine writes; service_role
-- reads, inserts and updates.

alter table lenses.dispatch_settings enable row level security;
alter table lenses.dispatch_settings force row level security;

drop policy if exists dispatch_settings_owner_select on lenses.dispatch_settings;
create policy dispatch_settings_owner_select on lenses.dispatch_settings
for select
to lf_sql_owner
using (true);

drop policy if exists dispatch_settings_engine_all on lenses.dispatch_settings;
create policy dispatch_settings_engine_all on lenses.dispatch_settings
to lf_sql_engine
using (true)
with check (true);

drop policy if exists dispatch_settings_service_role_select on lenses.dispatch_settings;
create policy dispatch_settings_service_role_select on lenses.dispatch_settings
for select
to service_role
using (true);

drop policy if exists dispatch_settings_service_role_insert on lenses.dispatch_settings;
create policy dispatch_settings_service_role_insert on lenses.dispatch_settings
for insert
to service_role
with check (true);

drop policy if exists dispatch_settings_service_role_update on lenses.dispatch_settings;
create policy dispatch_settings_service_role_update on lenses.dispatch_settings
for update
to service_role
using (true)
with check (true);
