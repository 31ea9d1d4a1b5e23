-- Only the owner decides an approval, in every replication mode. References to a team or agent that
-- is gone may become NULL; any other update is refused.

create or replace trigger team_runs_born
before insert on agents.team_runs
for each row
when (current_user not in ('lf_sql_owner', 'lf_sql_engine'))
execute function agents.tg_team_runs_born();

alter table agents.team_runs enable always trigger team_runs_born;

create or replace trigger team_runs_guard_insert
before insert on agents.team_runs
for each row
when (current_user <> 'lf_sql_engine')
execute function agents.tg_team_runs_guard();

create or replace trigger team_runs_guard_update
before update on agents.team_runs
for each row
when (
  current_user <> 'lf_sql_engine'
  and (
    old.id, old.lenser_id, old.workflow_run_id, old.approval_status, old.decided_by,
    old.decided_at, old.note
  ) is distinct from (
    new.id, new.lenser_id, new.workflow_run_id, new.approval_status, new.decided_by,
    new.decided_at, new.note
  )
)
execute function agents.tg_team_runs_guard();

alter table agents.team_runs enable always trigger team_runs_guard_insert;
alter table agents.team_runs enable always trigger team_runs_guard_update;

create or replace trigger team_runs_instants
before insert or update on agents.team_runs
for each row
when (current_user <> 'lf_sql_engine')
execute function lenses.tg_check_instants();

alter table agents.team_runs enable always trigger team_runs_instants;

create or replace trigger team_runs_tenant_here
before insert or update on agents.team_runs
for each row
when (
  current_user <> 'lf_sql_engine'
  and not pg_catalog.pg_has_role(current_user, 'lf_sql_owner', 'usage')
)
execute function lensers.tg_require_here();

alter table agents.team_runs enable always trigger team_runs_tenant_here;

create or replace trigger team_runs_tenant_held
before insert or update on agents.team_runs
for each row
when (
  current_user not in ('lf_sql_owner', 'lf_sql_engine')
  and pg_catalog.pg_has_role(current_user, 'lf_sql_owner', 'usage')
)
execute function lensers.tg_hold_tenant();

alter table agents.team_runs enable always trigger team_runs_tenant_held;
