-- A tenant sees only its own rows. The RPCs (as lf_sql_owner) work on the caller's rows,
-- lf_sql_engine on all. service_role may read, insert and update, and the table's guards check what
-- it writes; it may not delete.

alter table agents.gateways enable row level security;
alter table agents.gateways force row level security;

drop policy if exists gateways_authenticated_select on agents.gateways;
create policy gateways_authenticated_select on agents.gateways
for select
to authenticated
using (lenser_id = (select lensers.get_auth_lenser_id()));

drop policy if exists gateways_owner_all on agents.gateways;
create policy gateways_owner_all on agents.gateways
to lf_sql_owner
using (lenser_id = (select lensers.get_auth_lenser_id()))
with check (lenser_id = (select lensers.get_auth_lenser_id()));

drop policy if exists gateways_engine_all on agents.gateways;
create policy gateways_engine_all on agents.gateways
to lf_sql_engine
using (true)
with check (true);

drop policy if exists gateways_service_role_select on agents.gateways;
create policy gateways_service_role_select on agents.gateways
for select
to service_role
using (true);

drop policy if exists gateways_service_role_insert on agents.gateways;
create policy gateways_service_role_insert on agents.gateways
for insert
to service_role
with check (true);

drop policy if exists gateways_service_role_update on agents.gateways;
create policy gateways_service_role_update on agents.gateways
for update
to service_role
using (true)
with check (true);
