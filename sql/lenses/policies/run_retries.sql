-- What budgets count: lf_sql_engine writes, service_role reads.

alter table lenses.run_retries enable row level security;
alter table lenses.run_retries force row level security;

drop policy if exists run_retries_owner_all on lenses.run_retries;
create policy run_retries_owner_all on lenses.run_retries
to lf_sql_owner
using (lenser_id = (select lensers.get_auth_lenser_id()))
with check (lenser_id = (select lensers.get_auth_lenser_id()));

drop policy if exists run_retries_engine_all on lenses.run_retries;
create policy run_retries_engine_all on lenses.run_retries
to lf_sql_engine
using (true)
with check (true);

drop policy if exists run_retries_service_role_select on lenses.run_retries;
create policy run_retries_service_role_select on lenses.run_retries
for select
to service_role
using (true);
