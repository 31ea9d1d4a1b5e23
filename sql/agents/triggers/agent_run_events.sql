-- Append-only, for every role and in every replication mode.

create or replace trigger agent_run_events_refuse_update
before update on agents.agent_run_events
for each row
execute function lenses.tg_append_only();

create or replace trigger agent_run_events_refuse_delete
before delete on agents.agent_run_events
for each row
when (current_user <> 'lf_sql_engine' or old.occurred_at > pg_catalog.now() - interval '31 days')
execute function lenses.tg_append_only();

create or replace trigger agent_run_events_refuse_truncate
before truncate on agents.agent_run_events
for each statement
execute function lenses.tg_append_only();

alter table agents.agent_run_events enable always trigger agent_run_events_refuse_update;
alter table agents.agent_run_events enable always trigger agent_run_events_refuse_delete;
alter table agents.agent_run_events enable always trigger agent_run_events_refuse_truncate;
