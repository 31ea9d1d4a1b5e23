-- lenses.fn_require_timezone (lf_sql_engine) has just checked its rows. Rows of all other roles are
-- checked here, all rows of a statement at once.

drop trigger if exists timezones_guard on lenses.timezones;

create or replace trigger timezones_guard_insert
after insert on lenses.timezones
referencing new table as new_rows
for each statement
when (current_user <> 'lf_sql_engine')
execute function lenses.tg_timezones_check();

create or replace trigger timezones_guard_update
after update on lenses.timezones
referencing new table as new_rows
for each statement
when (current_user <> 'lf_sql_engine')
execute function lenses.tg_timezones_check();

create or replace trigger timezones_guard_replica
before insert or update on lenses.timezones
for each row
when (
  current_user <> 'lf_sql_engine'
  and pg_catalog.current_setting('session_replication_role') = 'replica'
)
execute function lenses.tg_timezones_check();

alter table lenses.timezones enable always trigger timezones_guard_replica;
alter table lenses.timezones enable always trigger timezones_guard_insert;
alter table lenses.timezones enable always trigger timezones_guard_update;
