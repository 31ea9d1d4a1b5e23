-- Everything in our schemas belongs to lf_sql_owner, but the functions that must see all tenants to
-- lf_sql_engine (the header `-- owner: lf_sql_engine` of a source, kept in lf_sql.sources). Alters
-- only what is off, so a replay is cheap. A role that is no superuser may hand over only to an
-- owner with CREATE on the schema: given here, and taken back.

do $$
declare
  v_schemas constant text[] := array['lf_sql', 'lensers', 'lenses', 'agents', 'automation'];
  v_owner constant text := 'lf_sql_owner';
  v_engine constant text := 'lf_sql_engine';
  v_lends constant boolean := 'lf_sql_owner' <> current_user and not (
    select r.rolsuper from pg_catalog.pg_roles as r where r.rolname = current_user
  );
  v_lent text[] := '{}';
  v_commands text[];
  v_schema text;
  v_command text;
begin
  for v_schema in
    select n.nspname from pg_catalog.pg_namespace as n
    where n.nspname = any(v_schemas) and n.nspowner <> v_owner::pg_catalog.regrole
  loop
    execute pg_catalog.format('alter schema %I owner to %I', v_schema, v_owner);
  end loop;

  if v_lends then
    foreach v_schema in array v_schemas || 'public'::text loop
      if not pg_catalog.has_schema_privilege(v_engine, v_schema, 'create') then
        execute pg_catalog.format('grant create on schema %I to %I', v_schema, v_engine);
        v_lent := v_lent || pg_catalog.format(
          'revoke create on schema %I from %I', v_schema, v_engine);
      end if;
      if not pg_catalog.has_schema_privilege(v_owner, v_schema, 'create') then
        execute pg_catalog.format('grant create on schema %I to %I', v_schema, v_owner);
        v_lent := v_lent || pg_catalog.format(
          'revoke create on schema %I from %I', v_schema, v_owner);
      end if;
    end loop;
  end if;

  -- Listed first and altered then: a table cannot be altered while the list reads it.
  v_commands := array(
    select pg_catalog.format(
      'alter %s %s owner to %I', kind.word, c.oid::pg_catalog.regclass, v_owner)
    from pg_catalog.pg_class as c
    inner join (values ('r', 'table'), ('p', 'table'), ('v', 'view'), ('m', 'materialized view'),
      ('S', 'sequence')) as kind (relkind, word)
      on kind.relkind = c.relkind::text
    where c.relnamespace in (
      select n.oid from pg_catalog.pg_namespace as n where n.nspname = any(v_schemas))
      and c.relowner <> v_owner::pg_catalog.regrole
      and not exists (
        select 1 from pg_catalog.pg_depend as d
        where d.classid = 'pg_catalog.pg_class'::pg_catalog.regclass and d.objid = c.oid
          and d.deptype in ('a', 'i')
          and c.relkind = 'S' and d.refobjsubid > 0
      )
    union all
    select pg_catalog.format('alter type %s owner to %I', t.oid::pg_catalog.regtype, v_owner)
    from pg_catalog.pg_type as t
    left join pg_catalog.pg_class as c on c.oid = t.typrelid
    where t.typnamespace in (
      select n.oid from pg_catalog.pg_namespace as n where n.nspname = any(v_schemas))
      and t.typowner <> v_owner::pg_catalog.regrole
      and (t.typtype in ('d', 'e', 'r') or (t.typtype = 'c' and c.relkind = 'c'))
    union all
    select pg_catalog.format(
      'alter routine %s owner to %I', p.oid::pg_catalog.regprocedure, w.owner_name)
    from pg_catalog.pg_proc as p
    inner join pg_catalog.pg_namespace as n on n.oid = p.pronamespace
    left join lf_sql.sources as s
      on s.kind = 'function' and s.schema_name = n.nspname and s.object_name = p.proname
    cross join lateral (
      select case when s.owned_by = 'engine' then v_engine else v_owner end as owner_name
    ) as w
    where (n.nspname = any(v_schemas) or (n.nspname = 'public' and s.object_name is not null))
      and p.proowner <> w.owner_name::pg_catalog.regrole
  );
  foreach v_command in array v_commands loop
    execute v_command;
  end loop;

  foreach v_command in array v_lent loop
    execute v_command;
  end loop;
end;
$$;
