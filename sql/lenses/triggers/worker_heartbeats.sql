-- Instants that are written by hand must lie in the years 1970 to 9999.
create or replace trigger worker_heartbeats_instants
before insert or update on lenses.worker_heartbeats
for each row
when (current_user <> 'lf_sql_engine')
execute function lenses.tg_check_instants();

alter table lenses.worker_heartbeats enable always trigger worker_heartbeats_instants;
