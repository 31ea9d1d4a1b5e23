-- Only the installer, as the owner, writes; service_role reads.

alter table lf_sql.migrations enable row level security;
alter table lf_sql.migrations force row level security;

drop policy if exists migrations_owner_all on lf_sql.migrations;
create policy migrations_owner_all on lf_sql.migrations
to lf_sql_owner
using (true)
with check (true);

drop policy if exists migrations_service_role_select on lf_sql.migrations;
create policy migrations_service_role_select on lf_sql.migrations
for select
to service_role
using (true);
