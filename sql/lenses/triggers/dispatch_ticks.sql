create or replace trigger dispatch_ticks_total
after delete on lenses.dispatch_ticks
referencing old table as gone
for each statement
execute function lenses.tg_dispatch_ticks_total();

create or replace trigger dispatch_ticks_instants
before insert or update on lenses.dispatch_ticks
for each row
when (current_user <> 'lf_sql_engine')
execute function lenses.tg_check_instants();

alter table lenses.dispatch_ticks enable always trigger dispatch_ticks_instants;
