-- Keeps the one row of settings, in every replication mode.

create or replace trigger dispatch_settings_touch
before update on lenses.dispatch_settings
for each row
execute function lenses.tg_dispatch_settings();

create or replace trigger dispatch_settings_refuse_delete
before delete on lenses.dispatch_settings
for each row
execute function lenses.tg_dispatch_settings();

create or replace trigger dispatch_settings_refuse_truncate
before truncate on lenses.dispatch_settings
for each statement
execute function lenses.tg_dispatch_settings();

alter table lenses.dispatch_settings enable always trigger dispatch_settings_refuse_delete;
alter table lenses.dispatch_settings enable always trigger dispatch_settings_refuse_truncate;

create or replace trigger dispatch_settings_follow
after update on lenses.dispatch_settings
for each row
when (old.default_queue_mode is distinct from new.default_queue_mode)
execute function lenses.tg_dispatch_settings_follow();

create or replace trigger dispatch_settings_instants
before insert or update on lenses.dispatch_settings
for each row
when (current_user <> 'lf_sql_engine')
execute function lenses.tg_check_instants();

alter table lenses.dispatch_settings enable always trigger dispatch_settings_instants;
