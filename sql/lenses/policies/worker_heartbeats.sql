-- The workers: no tenant sees them. The RPCs read, lf_sql_engine writes; service_role reads,
-- inserts and updates.

alter table lenses.worker_heartbeats enable row level security;
alter table lenses.worker_heartbeats force row level security;

drop policy if exists worker_heartbeats_owner_select on lenses.worker_heartbeats;
create policy worker_heartbeats_owner_select on lenses.worker_heartbeats
for select
to lf_sql_owner
using (true);

drop policy if exists worker_heartbeats_engine_all on lenses.worker_heartbeats;
create policy worker_heartbeats_engine_all on lenses.worker_heartbeats
to lf_sql_engine
using (true)
with check (true);

drop policy if exists worker_heartbeats_service_role_select on lenses.worker_heartbeats;
create policy worker_heartbeats_service_role_select on lenses.worker_heartbeats
for select
to service_role
using (true);

drop policy if exists worker_heartbeats_service_role_insert on lenses.worker_heartbeats;
create policy worker_heartbeats_service_role_insert on lenses.worker_heartbeats
for insert
to service_role
with check (true);

drop policy if exists worker_heartbeats_service_role_update on lenses.worker_heartbeats;
create policy worker_heartbeats_service_role_update on lenses.worker_heartbeats
for update
to service_role
using (true)
with check (true);
