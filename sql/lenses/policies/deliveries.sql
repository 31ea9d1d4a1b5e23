-- Endpoints of the operator: no tenant sees them. lf_sql_engine writes, service_role reads.

alter table lenses.deliveries enable row level security;
alter table lenses.deliveries force row level security;

drop policy if exists deliveries_engine_all on lenses.deliveries;
create policy deliveries_engine_all on lenses.deliveries
to lf_sql_engine
using (true)
with check (true);

drop policy if exists deliveries_service_role_select on lenses.deliveries;
create policy deliveries_service_role_select on lenses.deliveries
for select
to service_role
using (true);
