-- Validates rows before they are written. Seeds are read-only for every role, in every replication
-- mode.

create or replace trigger schedule_calendars_check
before insert or update on lenses.schedule_calendars
for each row
execute function lenses.tg_schedule_calendars_check();

create or replace trigger schedule_calendars_referenced
before delete on lenses.schedule_calendars
for each row
execute function lenses.tg_schedule_calendars_referenced();

create or replace trigger schedule_calendars_moved
after update on lenses.schedule_calendars
for each row
when (
  (old.dates, old.rules, old.kind, old.timezone)
  is distinct from (new.dates, new.rules, new.kind, new.timezone)
)
execute function lenses.tg_schedule_calendars_moved();

create or replace trigger schedule_calendars_seed
before insert or update or delete on lenses.schedule_calendars
for each row
execute function lenses.tg_schedule_calendars_seed();

create or replace trigger schedule_calendars_seed_truncate
before truncate on lenses.schedule_calendars
for each statement
execute function lenses.tg_schedule_calendars_seed();

alter table lenses.schedule_calendars enable always trigger schedule_calendars_seed;
alter table lenses.schedule_calendars enable always trigger schedule_calendars_seed_truncate;

create or replace trigger schedule_calendars_instants
before insert or update on lenses.schedule_calendars
for each row
when (current_user <> 'lf_sql_engine')
execute function lenses.tg_check_instants();

alter table lenses.schedule_calendars enable always trigger schedule_calendars_referenced;

alter table lenses.schedule_calendars enable always trigger schedule_calendars_instants;

create or replace trigger schedule_calendars_tenant_here
before insert or update on lenses.schedule_calendars
for each row
when (
  current_user <> 'lf_sql_engine'
  and not pg_catalog.pg_has_role(current_user, 'lf_sql_owner', 'usage')
)
execute function lensers.tg_require_here();

alter table lenses.schedule_calendars enable always trigger schedule_calendars_tenant_here;

create or replace trigger schedule_calendars_tenant_held
before insert or update on lenses.schedule_calendars
for each row
when (
  current_user not in ('lf_sql_owner', 'lf_sql_engine')
  and pg_catalog.pg_has_role(current_user, 'lf_sql_owner', 'usage')
)
execute function lensers.tg_hold_tenant();

alter table lenses.schedule_calendars enable always trigger schedule_calendars_tenant_held;
