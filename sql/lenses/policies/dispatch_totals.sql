-- The sums of purged ticks: nothing of a tenant's, and nothing for one. The RPCs read,
-- lf_sql_engine writes; service_role reads, inserts and updates.

alter table lenses.dispatch_totals enable row level security;
alter table lenses.dispatch_totals force row level security;

drop policy if exists dispatch_totals_owner_select on lenses.dispatch_totals;
create policy dispatch_totals_owner_select on lenses.dispatch_totals
for select
to lf_sql_owner
using (true);

drop policy if exists dispatch_totals_engine_all on lenses.dispatch_totals;
create policy dispatch_totals_engine_all on lenses.dispatch_totals
to lf_sql_engine
using (true)
with check (true);

drop policy if exists dispatch_totals_service_role_select on lenses.dispatch_totals;
create policy dispatch_totals_service_role_select on lenses.dispatch_totals
for select
to service_role
using (true);

drop policy if exists dispatch_totals_service_role_insert on lenses.dispatch_totals;
create policy dispatch_totals_service_role_insert on lenses.dispatch_totals
for insert
to service_role
with check (true);

drop policy if exists dispatch_totals_service_role_update on lenses.dispatch_totals;
create policy dispatch_totals_service_role_update on lenses.dispatch_totals
for update
to service_role
using (true)
with check (true);
