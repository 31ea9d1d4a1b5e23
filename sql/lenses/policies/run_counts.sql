-- What conditions count: lf_sql_engine writes, service_role reads.

alter table lenses.run_counts enable row level security;
alter table lenses.run_counts force row level security;

drop policy if exists run_counts_owner_all on lenses.run_counts;
create policy run_counts_owner_all on lenses.run_counts
to lf_sql_owner
using (lenser_id = (select lensers.get_auth_lenser_id()))
with check (lenser_id = (select lensers.get_auth_lenser_id()));

drop policy if exists run_counts_engine_all on lenses.run_counts;
create policy run_counts_engine_all on lenses.run_counts
to lf_sql_engine
using (true)
with check (true);

drop policy if exists run_counts_service_role_select on lenses.run_counts;
create policy run_counts_service_role_select on lenses.run_counts
for select
to service_role
using (true);
