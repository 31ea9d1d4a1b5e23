-- lenses.fn_require_timezone (lf_sql_engine) has just checked its rows; everybody else's are
-- checked here.

create or replace trigger timezones_guard
before insert or update on lenses.timezones
for each row
when (current_user <> 'lf_sql_engine')
execute function lenses.tg_timezones_check();

alter table lenses.timezones enable always trigger timezones_guard;
