-- A tenant sees only its own rows. The RPCs (as lf_sql_owner) work on the caller's rows,
-- lf_sql_engine on all. service_role may read, insert and update, and the table's guards check what
-- it writes; it may not delete.

alter table agents.team_runs enable row level security;
alter table agents.team_runs force row level security;

drop policy if exists team_runs_authenticated_select on agents.team_runs;
create policy team_runs_authenticated_select on agents.team_runs
for select
to authenticated
using (lenser_id = (select lensers.get_auth_lenser_id()));

drop policy if exists team_runs_owner_all on agents.team_runs;
create policy team_runs_owner_all on agents.team_runs
to lf_sql_owner
using (lenser_id = (select lensers.get_auth_lenser_id()))
with check (lenser_id = (select lensers.get_auth_lenser_id()));

drop policy if exists team_runs_engine_all on agents.team_runs;
create policy team_runs_engine_all on agents.team_runs
to lf_sql_engine
using (true)
with check (true);

drop policy if exists team_runs_service_role_select on agents.team_runs;
create policy team_runs_service_role_select on agents.team_runs
for select
to service_role
using (true);

drop policy if exists team_runs_service_role_insert on agents.team_runs;
create policy team_runs_service_role_insert on agents.team_runs
for insert
to service_role
with check (true);

drop policy if exists team_runs_service_role_update on agents.team_runs;
create policy team_runs_service_role_update on agents.team_runs
for update
to service_role
using (true)
with check (true);
