-- owner: lf_sql_engine
-- The keys of the named secret: from Supabase's vault, where a superuser owns it and we may read
-- it, else from lenses.delivery_secrets. NULL where no secret has that name, or where it does not
-- have the form of Standard Webhooks. For lf_sql_engine alone.
create or replace function lenses.fn_delivery_secret(p_name text)
returns bytea[]
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  c_view constant oid := (
    select c.oid
    from pg_class as c
    inner join pg_namespace as n on n.oid = c.relnamespace
    where n.nspname = 'vault' and c.relname = 'decrypted_secrets');
  v_secret text;
begin
  if p_name is null then
    return null;
  end if;
  if c_view is not null and has_schema_privilege('vault', 'usage')
    and has_table_privilege(c_view, 'select')
    and not exists (
      select
      from pg_class as c
      inner join pg_namespace as n on n.oid = c.relnamespace
      inner join pg_roles as r on r.oid in (c.relowner, n.nspowner)
      where n.nspname = 'vault' and not r.rolsuper)
  then
    v_secret := (
      select s.decrypted_secret from vault.decrypted_secrets as s
      where s.name = p_name order by s.created_at desc limit 1);
  end if;
  return lenses.fn_webhook_keys(coalesce(v_secret, (
    select s.secret from lenses.delivery_secrets as s where s.name = p_name)));
end;
$$;
