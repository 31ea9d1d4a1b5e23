-- Audit: a lenser sees his own rows, service_role all; only the owners of our functions write. That
-- rows neither change nor go is the append-only trigger's business, not a policy's: it answers
-- aloud.

alter table agents.approval_attempts enable row level security;
alter table agents.approval_attempts force row level security;

drop policy if exists approval_attempts_authenticated_select on agents.approval_attempts;
create policy approval_attempts_authenticated_select on agents.approval_attempts
for select
to authenticated
using (lenser_id = (select lensers.get_auth_lenser_id()));

drop policy if exists approval_attempts_owner_all on agents.approval_attempts;
create policy approval_attempts_owner_all on agents.approval_attempts
to lf_sql_owner
using (lenser_id = (select lensers.get_auth_lenser_id()))
with check (lenser_id = (select lensers.get_auth_lenser_id()));

drop policy if exists approval_attempts_engine_all on agents.approval_attempts;
create policy approval_attempts_engine_all on agents.approval_attempts
to lf_sql_engine
using (true)
with check (true);

drop policy if exists approval_attempts_service_role_select on agents.approval_attempts;
create policy approval_attempts_service_role_select on agents.approval_attempts
for select
to service_role
using (true);
