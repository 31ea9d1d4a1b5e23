create or replace trigger team_members_fill
before insert on agents.team_members
for each row
when (new.lenser_id is null)
execute function agents.tg_team_members_fill();

create or replace trigger team_members_instants
before insert or update on agents.team_members
for each row
when (current_user <> 'lf_sql_engine')
execute function lenses.tg_check_instants();

alter table agents.team_members enable always trigger team_members_instants;

create or replace trigger team_members_tenant_here
before insert or update on agents.team_members
for each row
when (
  current_user <> 'lf_sql_engine'
  and not pg_catalog.pg_has_role(current_user, 'lf_sql_owner', 'usage')
)
execute function lensers.tg_require_here();

alter table agents.team_members enable always trigger team_members_tenant_here;

create or replace trigger team_members_tenant_held
before insert or update on agents.team_members
for each row
when (
  current_user not in ('lf_sql_owner', 'lf_sql_engine')
  and pg_catalog.pg_has_role(current_user, 'lf_sql_owner', 'usage')
)
execute function lensers.tg_hold_tenant();

alter table agents.team_members enable always trigger team_members_tenant_held;
