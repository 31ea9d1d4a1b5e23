-- lenses.fn_require_timezone (lf_sql_engine) has just asked; anyone else's rows are asked here, all
-- rows of a statement at once.

drop trigger if exists timezones_guard on lenses.timezones;

create or replace trigger timezones_guard_insert
after insert on lenses.timezones
referencing new table as written
for each statement
when (current_user <> 'lf_sql_engine')
execute function lenses.tg_timezones_check();

create or replace trigger timezones_guard_update
after update on lenses.timezones
referencing new table as written
for each statement
when (current_user <> 'lf_sql_engine')
execute function lenses.tg_timezones_check();

alter table lenses.timezones enable always trigger timezones_guard_insert;
alter table lenses.timezones enable always trigger timezones_guard_update;
