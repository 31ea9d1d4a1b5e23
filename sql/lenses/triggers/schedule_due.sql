create or replace trigger schedule_due_guard
before insert or update on lenses.schedule_due
for each row
when (
  current_user <> 'lf_sql_engine'
  and not pg_catalog.pg_has_role(current_user, 'lf_sql_owner', 'usage')
)
execute function lenses.tg_schedule_due_guard();

alter table lenses.schedule_due enable always trigger schedule_due_guard;

create or replace trigger schedule_due_insert
before insert on lenses.schedule_due
for each row execute function lenses.tg_schedule_due_insert();

create or replace trigger schedule_due_instants
before insert or update on lenses.schedule_due
for each row
when (current_user <> 'lf_sql_engine')
execute function lenses.tg_check_instants();

alter table lenses.schedule_due enable always trigger schedule_due_instants;

create or replace trigger schedule_due_tenant_here
before insert or update on lenses.schedule_due
for each row
when (
  current_user <> 'lf_sql_engine'
  and not pg_catalog.pg_has_role(current_user, 'lf_sql_owner', 'usage')
)
execute function lensers.tg_require_here();

alter table lenses.schedule_due enable always trigger schedule_due_tenant_here;

create or replace trigger schedule_due_tenant_held
before insert on lenses.schedule_due
for each row
when (
  current_user not in ('lf_sql_owner', 'lf_sql_engine')
  and pg_catalog.pg_has_role(current_user, 'lf_sql_owner', 'usage')
)
execute function lensers.tg_hold_tenant();

alter table lenses.schedule_due enable always trigger schedule_due_tenant_held;
