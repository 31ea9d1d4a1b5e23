-- Instants that are written by hand must lie in the years 1970 to 9999.
create or replace trigger profiles_instants
before insert or update on lensers.profiles
for each row
when (current_user <> 'lf_sql_engine')
execute function lenses.tg_check_instants();

-- Guards who owns a profile, in every replication mode. WHEN sees the caller, and so whom to trust:
-- the function itself runs as its owner.

create or replace trigger profiles_user_owner
before update on lensers.profiles
for each row
when (
  (old.id, old.user_id) is distinct from (new.id, new.user_id)
  and pg_catalog.pg_has_role(current_user, 'lf_sql_owner', 'usage')
)
execute function lensers.tg_profiles_user('owner');

create or replace trigger profiles_user_other
before update on lensers.profiles
for each row
when (
  (old.id, old.user_id) is distinct from (new.id, new.user_id)
  and not pg_catalog.pg_has_role(current_user, 'lf_sql_owner', 'usage')
)
execute function lensers.tg_profiles_user('other');

create or replace trigger profiles_user_delete
before delete on lensers.profiles
for each row
execute function lensers.tg_profiles_user('owner');

alter table lensers.profiles enable always trigger profiles_user_owner;
alter table lensers.profiles enable always trigger profiles_user_other;
alter table lensers.profiles enable always trigger profiles_user_delete;

alter table lensers.profiles enable always trigger profiles_instants;

-- Where a tenant lives is not written by hand; after profiles_instants, by its name.
create or replace trigger profiles_whereabouts_insert
before insert on lensers.profiles
for each row
when (
  current_user <> 'lf_sql_engine'
  and num_nonnulls(
    new.departed_at, new.departed_to, new.departure_settled_at, new.source_departed_at) > 0
)
execute function lensers.tg_profiles_departed();

create or replace trigger profiles_whereabouts_update
before update on lensers.profiles
for each row
when (
  current_user <> 'lf_sql_engine'
  and (old.departed_at, old.departed_to, old.departure_settled_at, old.source_departed_at)
  is distinct from
  (new.departed_at, new.departed_to, new.departure_settled_at, new.source_departed_at)
)
execute function lensers.tg_profiles_departed();

alter table lensers.profiles enable always trigger profiles_whereabouts_insert;
alter table lensers.profiles enable always trigger profiles_whereabouts_update;

create or replace trigger profiles_tenant_here
before update on lensers.profiles
for each row
when (
  old.departed_at is not null and current_user <> 'lf_sql_engine'
  and not pg_catalog.pg_has_role(current_user, 'lf_sql_owner', 'usage')
  and (old.handle, old.display_name) is distinct from (new.handle, new.display_name)
)
execute function lensers.tg_profiles_here();

alter table lensers.profiles enable always trigger profiles_tenant_here;
