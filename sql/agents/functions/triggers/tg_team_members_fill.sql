-- owner: lf_sql_engine
-- A membership belongs to its team's lenser; the agent's foreign key holds the agent to the same.
create or replace function agents.tg_team_members_fill()
returns trigger
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  select t.lenser_id into new.lenser_id from agents.teams as t where t.id = new.team_id;
  return new;
end;
$$;

comment on function agents.tg_team_members_fill() is
  'Fills lenser_id from the team.';
