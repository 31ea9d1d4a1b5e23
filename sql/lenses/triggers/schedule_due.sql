create or replace trigger schedule_due_insert
before insert on lenses.schedule_due
for each row execute function lenses.tg_schedule_due_insert();
