-- What keeps a day's partition of events or logs from being read or changed by its own name: no
-- grants, whatever default privileges its owner has, row security with a policy for lf_sql_engine
-- alone (a dump by the installing role sees the rows by it), and the guard of TRUNCATE, which no
-- partition inherits. Safe to repeat; an install repeats it after a restore without roles has lost
-- the policies.
create or replace function lenses.fn_guard_partition(p_part regclass)
returns void
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_engine constant name := 'lf_sql_engine';
  v_table name;
  v_grantee name;
begin
  execute format('revoke all on %s from public cascade', p_part);
  for v_grantee in
    select distinct r.rolname
    from pg_class as c
    cross join lateral aclexplode(c.relacl) as a
    inner join pg_roles as r on r.oid = a.grantee
    where c.oid = p_part and a.grantee <> c.relowner
  loop
    execute format('revoke all on %s from %I cascade', p_part, v_grantee);
  end loop;
  select substring(c.relname from '^(.*)_[0-9]{8}$') into v_table
  from pg_class as c
  where c.oid = p_part;
  execute format('alter table %s enable row level security', p_part);
  execute format('alter table %s force row level security', p_part);
  if not exists (select from pg_policy as o where o.polrelid = p_part) then
    execute format(
      'create policy %I on %s to %I using (true) with check (true)',
      v_table || '_engine_all', p_part, v_engine);
  end if;
  execute format(
    'create or replace trigger %I before truncate on %s '
    'for each statement execute function lenses.tg_append_only()',
    v_table || '_refuse_truncate', p_part);
  execute format(
    'alter table %s enable always trigger %I', p_part, v_table || '_refuse_truncate');
end;
$$;
