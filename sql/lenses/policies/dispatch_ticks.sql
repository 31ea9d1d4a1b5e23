-- The record of ticks: no tenant sees it. The RPCs read, lf_sql_engine writes; service_role reads,
-- inserts and updates.

alter table lenses.dispatch_ticks enable row level security;
alter table lenses.dispatch_ticks force row level security;

drop policy if exists dispatch_ticks_owner_select on lenses.dispatch_ticks;
create policy dispatch_ticks_owner_select on lenses.dispatch_ticks
for select
to lf_sql_owner
using (true);

drop policy if exists dispatch_ticks_engine_all on lenses.dispatch_ticks;
create policy dispatch_ticks_engine_all on lenses.dispatch_ticks
to lf_sql_engine
using (true)
with check (true);

drop policy if exists dispatch_ticks_service_role_select on lenses.dispatch_ticks;
create policy dispatch_ticks_service_role_select on lenses.dispatch_ticks
for select
to service_role
using (true);

drop policy if exists dispatch_ticks_service_role_insert on lenses.dispatch_ticks;
create policy dispatch_ticks_service_role_insert on lenses.dispatch_ticks
for insert
to service_role
with check (true);

drop policy if exists dispatch_ticks_service_role_update on lenses.dispatch_ticks;
create policy dispatch_ticks_service_role_update on lenses.dispatch_ticks
for update
to service_role
using (true)
with check (true);
