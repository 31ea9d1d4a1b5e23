-- Append-only, for every role and in every replication mode.

create or replace trigger workflow_run_events_refuse_update
before update on lenses.workflow_run_events
for each row
execute function lenses.tg_append_only();

create or replace trigger workflow_run_events_refuse_delete
before delete on lenses.workflow_run_events
for each row
when (current_user <> 'lf_sql_engine' or old.occurred_at > pg_catalog.now() - interval '31 days')
execute function lenses.tg_append_only();

create or replace trigger workflow_run_events_refuse_truncate
before truncate on lenses.workflow_run_events
for each statement
execute function lenses.tg_append_only();

alter table lenses.workflow_run_events enable always trigger workflow_run_events_refuse_update;
alter table lenses.workflow_run_events enable always trigger workflow_run_events_refuse_delete;
alter table lenses.workflow_run_events enable always trigger workflow_run_events_refuse_truncate;
