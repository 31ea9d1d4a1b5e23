-- Events on their way: lf_sql_engine writes, service_role reads.

alter table lenses.outbox enable row level security;
alter table lenses.outbox force row level security;

drop policy if exists outbox_owner_all on lenses.outbox;
create policy outbox_owner_all on lenses.outbox
to lf_sql_owner
using (lenser_id = (select lensers.get_auth_lenser_id()))
with check (lenser_id = (select lensers.get_auth_lenser_id()));

drop policy if exists outbox_engine_all on lenses.outbox;
create policy outbox_engine_all on lenses.outbox
to lf_sql_engine
using (true)
with check (true);

drop policy if exists outbox_service_role_select on lenses.outbox;
create policy outbox_service_role_select on lenses.outbox
for select
to service_role
using (true);
