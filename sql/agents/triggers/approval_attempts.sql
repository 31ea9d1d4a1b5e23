-- Append-only, for every role and in every replication mode; only the counter goes up, by
-- lf_sql_engine.

create or replace trigger approval_attempts_refuse_update
before update on agents.approval_attempts
for each row
when (
  current_user <> 'lf_sql_engine'
  or new.attempts <= old.attempts
  or (new.run_id, new.minute, new.lenser_id)
    is distinct from (old.run_id, old.minute, old.lenser_id)
)
execute function lenses.tg_append_only();

create or replace trigger approval_attempts_refuse_delete
before delete on agents.approval_attempts
for each row
when (current_user <> 'lf_sql_engine' or old.minute > pg_catalog.now() - interval '31 days')
execute function lenses.tg_append_only();

create or replace trigger approval_attempts_refuse_truncate
before truncate on agents.approval_attempts
for each statement
execute function lenses.tg_append_only();

alter table agents.approval_attempts enable always trigger approval_attempts_refuse_update;
alter table agents.approval_attempts enable always trigger approval_attempts_refuse_delete;
alter table agents.approval_attempts enable always trigger approval_attempts_refuse_truncate;
