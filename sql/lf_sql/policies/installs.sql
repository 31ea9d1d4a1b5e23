-- Only the installer, as the owner, writes; service_role reads.

alter table lf_sql.installs enable row level security;
alter table lf_sql.installs force row level security;

drop policy if exists installs_owner_all on lf_sql.installs;
create policy installs_owner_all on lf_sql.installs
to lf_sql_owner
using (true)
with check (true);

drop policy if exists installs_service_role_select on lf_sql.installs;
create policy installs_service_role_select on lf_sql.installs
for select
to service_role
using (true);
