create or replace trigger dispatch_ticks_total
after delete on lenses.dispatch_ticks
referencing old table as gone
for each statement
execute function lenses.tg_dispatch_ticks_total();
