-- Only the installer, as the owner, writes; service_role reads.

alter table lf_sql.sources enable row level security;
alter table lf_sql.sources force row level security;

drop policy if exists sources_owner_all on lf_sql.sources;
create policy sources_owner_all on lf_sql.sources
to lf_sql_owner
using (true)
with check (true);

drop policy if exists sources_service_role_select on lf_sql.sources;
create policy sources_service_role_select on lf_sql.sources
for select
to service_role
using (true);
