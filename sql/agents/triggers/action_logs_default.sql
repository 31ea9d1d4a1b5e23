-- The guards of its rows come from agents.action_logs; no partition inherits one on TRUNCATE.

create or replace trigger action_logs_refuse_truncate
before truncate on agents.action_logs_default
for each statement
execute function lenses.tg_append_only();

alter table agents.action_logs_default enable always trigger action_logs_refuse_truncate;
