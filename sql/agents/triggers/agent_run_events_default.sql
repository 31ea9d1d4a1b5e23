-- The guards of its rows come from agents.agent_run_events; no partition inherits one on TRUNCATE.

create or replace trigger agent_run_events_refuse_truncate
before truncate on agents.agent_run_events_default
for each statement
execute function lenses.tg_append_only();

alter table agents.agent_run_events_default enable always trigger agent_run_events_refuse_truncate;
