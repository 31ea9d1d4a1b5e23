-- A tenant sees its own profile; service_role registers and renames them.

alter table lensers.profiles enable row level security;
alter table lensers.profiles force row level security;

drop policy if exists profiles_authenticated_select on lensers.profiles;
create policy profiles_authenticated_select on lensers.profiles
for select
to authenticated
using (id = (select lensers.get_auth_lenser_id()));

drop policy if exists profiles_owner_all on lensers.profiles;
create policy profiles_owner_all on lensers.profiles
to lf_sql_owner
using (id = (select lensers.get_auth_lenser_id()))
with check (id = (select lensers.get_auth_lenser_id()));

drop policy if exists profiles_engine_all on lensers.profiles;
create policy profiles_engine_all on lensers.profiles
to lf_sql_engine
using (true)
with check (true);

drop policy if exists profiles_service_role_select on lensers.profiles;
create policy profiles_service_role_select on lensers.profiles
for select
to service_role
using (true);

drop policy if exists profiles_service_role_insert on lensers.profiles;
create policy profiles_service_role_insert on lensers.profiles
for insert
to service_role
with check (true);

drop policy if exists profiles_service_role_update on lensers.profiles;
create policy profiles_service_role_update on lensers.profiles
for update
to service_role
using (true)
with check (true);
