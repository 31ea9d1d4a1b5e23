-- Append-only, for every role and in every replication mode.

create or replace trigger action_logs_refuse_update
before update on agents.action_logs
for each row
execute function lenses.tg_append_only();

create or replace trigger action_logs_refuse_delete
before delete on agents.action_logs
for each row
when (current_user <> 'lf_sql_engine' or old.occurred_at > pg_catalog.now() - interval '31 days')
execute function lenses.tg_append_only();

create or replace trigger action_logs_refuse_truncate
before truncate on agents.action_logs
for each statement
execute function lenses.tg_append_only();

alter table agents.action_logs enable always trigger action_logs_refuse_update;
alter table agents.action_logs enable always trigger action_logs_refuse_delete;
alter table agents.action_logs enable always trigger action_logs_refuse_truncate;
