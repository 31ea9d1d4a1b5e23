-- What is written by hand lies in the years 1970 to 9999.
create or replace trigger profiles_instants
before insert or update on lensers.profiles
for each row
when (current_user <> 'lf_sql_engine')
execute function lenses.tg_check_instants();
