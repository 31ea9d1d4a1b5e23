-- Audit. A tenant sees its own rows, service_role sees all; only the owners of our functions write.
-- The append-only trigger, not a policy, refuses changes and deletions, because a trigger raises an
-- error where a policy would silently do nothing.

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
