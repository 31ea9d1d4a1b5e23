-- What quotas count: lf_sql_engine writes. A tenant sees its own row, service_role all.

alter table lenses.lenser_usage enable row level security;
alter table lenses.lenser_usage force row level security;

drop policy if exists lenser_usage_owner_all on lenses.lenser_usage;
create policy lenser_usage_owner_all on lenses.lenser_usage
to lf_sql_owner
using (lenser_id = (select lensers.get_auth_lenser_id()))
with check (lenser_id = (select lensers.get_auth_lenser_id()));

drop policy if exists lenser_usage_engine_all on lenses.lenser_usage;
create policy lenser_usage_engine_all on lenses.lenser_usage
to lf_sql_engine
using (true)
with check (true);

drop policy if exists lenser_usage_service_role_select on lenses.lenser_usage;
create policy lenser_usage_service_role_select on lenses.lenser_usage
for select
to service_role
using (true);

drop policy if exists lenser_usage_authenticated_select on lenses.lenser_usage;
create policy lenser_usage_authenticated_select on lenses.lenser_usage
for select
to authenticated
using (lenser_id = (select lensers.get_auth_lenser_id()));
