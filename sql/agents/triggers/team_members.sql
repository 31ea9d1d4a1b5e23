create or replace trigger team_members_fill
before insert on agents.team_members
for each row
when (new.lenser_id is null)
execute function agents.tg_team_members_fill();
