-- Only the installer, as the owner, writes; service_role reads.

alter table lf_sql.expected_objects enable row level security;
alter table lf_sql.expected_objects force row level security;

drop policy if exists expected_objects_owner_all on lf_sql.expected_objects;
create policy expected_objects_owner_all on lf_sql.expected_objects
to lf_sql_owner
using (true)
with check (true);

drop policy if exists expected_objects_service_role_select on lf_sql.expected_objects;
create policy expected_objects_service_role_select on lf_sql.expected_objects
for select
to service_role
using (true);
