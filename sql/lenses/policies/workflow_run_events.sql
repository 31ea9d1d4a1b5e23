-- Audit: a lenser sees his own rows, service_role all; only the owners of our functions write. That
-- rows neither change nor go is the append-only trigger's business, not a policy's: it answers
-- aloud.

alter table lenses.workflow_run_events enable row level security;
alter table lenses.workflow_run_events force row level security;

drop policy if exists workflow_run_events_authenticated_select on lenses.workflow_run_events;
create policy workflow_run_events_authenticated_select on lenses.workflow_run_events
for select
to authenticated
using (lenser_id = (select lensers.get_auth_lenser_id()));

drop policy if exists workflow_run_events_owner_all on lenses.workflow_run_events;
create policy workflow_run_events_owner_all on lenses.workflow_run_events
to lf_sql_owner
using (lenser_id = (select lensers.get_auth_lenser_id()))
with check (lenser_id = (select lensers.get_auth_lenser_id()));

drop policy if exists workflow_run_events_engine_all on lenses.workflow_run_events;
create policy workflow_run_events_engine_all on lenses.workflow_run_events
to lf_sql_engine
using (true)
with check (true);

drop policy if exists workflow_run_events_service_role_select on lenses.workflow_run_events;
create policy workflow_run_events_service_role_select on lenses.workflow_run_events
for select
to service_role
using (true);
