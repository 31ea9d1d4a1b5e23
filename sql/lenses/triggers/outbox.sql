create or replace trigger outbox_tenant_held
before insert on lenses.outbox
for each row
when (
  current_user not in ('lf_sql_owner', 'lf_sql_engine')
  and pg_catalog.pg_has_role(current_user, 'lf_sql_owner', 'usage')
)
execute function lensers.tg_hold_tenant();

alter table lenses.outbox enable always trigger outbox_tenant_held;
