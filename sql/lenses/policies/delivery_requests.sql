-- Requests under way: lf_sql_engine writes, service_role reads.

alter table lenses.delivery_requests enable row level security;
alter table lenses.delivery_requests force row level security;

drop policy if exists delivery_requests_engine_all on lenses.delivery_requests;
create policy delivery_requests_engine_all on lenses.delivery_requests
to lf_sql_engine
using (true)
with check (true);

drop policy if exists delivery_requests_service_role_select on lenses.delivery_requests;
create policy delivery_requests_service_role_select on lenses.delivery_requests
for select
to service_role
using (true);
