-- What was put aside of tenants that have departed: lf_sql_engine writes, service_role reads.

alter table lenses.departed_rows enable row level security;
alter table lenses.departed_rows force row level security;

drop policy if exists departed_rows_owner_all on lenses.departed_rows;
create policy departed_rows_owner_all on lenses.departed_rows
to lf_sql_owner
using (lenser_id = (select lensers.get_auth_lenser_id()))
with check (lenser_id = (select lensers.get_auth_lenser_id()));

drop policy if exists departed_rows_engine_all on lenses.departed_rows;
create policy departed_rows_engine_all on lenses.departed_rows
to lf_sql_engine
using (true)
with check (true);

drop policy if exists departed_rows_service_role_select on lenses.departed_rows;
create policy departed_rows_service_role_select on lenses.departed_rows
for select
to service_role
using (true);
