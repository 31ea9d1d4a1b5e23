-- Names of zones: no tenant sees them. The RPCs read, lf_sql_engine writes; service_role reads,
-- inserts and updates.

alter table lenses.timezones enable row level security;
alter table lenses.timezones force row level security;

drop policy if exists timezones_owner_select on lenses.timezones;
create policy timezones_owner_select on lenses.timezones
for select
to lf_sql_owner
using (true);

drop policy if exists timezones_engine_all on lenses.timezones;
create policy timezones_engine_all on lenses.timezones
to lf_sql_engine
using (true)
with check (true);

drop policy if exists timezones_service_role_select on lenses.timezones;
create policy timezones_service_role_select on lenses.timezones
for select
to service_role
using (true);

drop policy if exists timezones_service_role_insert on lenses.timezones;
create policy timezones_service_role_insert on lenses.timezones
for insert
to service_role
with check (true);

drop policy if exists timezones_service_role_update on lenses.timezones;
create policy timezones_service_role_update on lenses.timezones
for update
to service_role
using (true)
with check (true);
