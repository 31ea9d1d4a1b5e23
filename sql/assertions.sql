-- The last word of an install: raises, and so rolls everything back, where the catalogue breaks a rule of the house.

do $$
declare
  v_rooms constant text[] := array['lf_sql', 'lensers', 'lenses', 'agents', 'automation'];
  v_found text;
begin
  select pg_catalog.string_agg(c.oid::pg_catalog.regclass::text, ', ') into v_found
  from pg_catalog.pg_class as c
  where c.relnamespace in (select n.oid from pg_catalog.pg_namespace as n where n.nspname = any(v_rooms))
    and c.relkind in ('r', 'p') and not (c.relrowsecurity and c.relforcerowsecurity);
  if v_found is not null then
    raise exception 'row security is not on and forced for: %', v_found;
  end if;

  select pg_catalog.string_agg(o.oid::pg_catalog.regprocedure::text, ', ') into v_found
  from lf_sql.sources as s
  join pg_catalog.pg_namespace as n on n.nspname = s.schema_name
  join pg_catalog.pg_proc as o on o.pronamespace = n.oid and o.proname = s.object_name
  cross join lateral pg_catalog.aclexplode(coalesce(o.proacl, pg_catalog.acldefault('f', o.proowner))) as a
  where s.kind = 'function' and a.grantee = 0;
  if v_found is not null then
    raise exception 'PUBLIC may execute: %', v_found;
  end if;

  -- A procedure that commits can carry no SET clause; it is invoker, so its path is the caller's own affair.
  select pg_catalog.string_agg(o.oid::pg_catalog.regprocedure::text, ', ') into v_found
  from lf_sql.sources as s
  join pg_catalog.pg_namespace as n on n.nspname = s.schema_name
  join pg_catalog.pg_proc as o on o.pronamespace = n.oid and o.proname = s.object_name
  where s.kind = 'function'
    and not coalesce('search_path=pg_catalog, pg_temp' = any(o.proconfig), false)
    and (o.prosecdef or o.prokind <> 'p');
  if v_found is not null then
    raise exception 'search_path is not pinned to pg_catalog, pg_temp: %', v_found;
  end if;

  select pg_catalog.string_agg(w.name, ', ') into v_found
  from (
    select s.schema_name || '.' || s.object_name as name
    from lf_sql.sources as s
    join pg_catalog.pg_namespace as n on n.nspname = s.schema_name
    join pg_catalog.pg_proc as o on o.pronamespace = n.oid and o.proname = s.object_name
    where s.kind = 'function'
    group by 1
    having pg_catalog.count(*) > 1
  ) as w;
  if v_found is not null then
    raise exception 'more than one signature: %', v_found;
  end if;

  select pg_catalog.string_agg(o.oid::pg_catalog.regprocedure::text, ', ') into v_found
  from lf_sql.sources as s
  join pg_catalog.pg_namespace as n on n.nspname = s.schema_name
  join pg_catalog.pg_proc as o on o.pronamespace = n.oid and o.proname = s.object_name
  join pg_catalog.pg_roles as r on r.oid = o.proowner
  where s.kind = 'function' and o.prosecdef and (r.rolsuper or r.rolbypassrls) and 'lf_sql_owner' <> current_user;
  if v_found is not null then
    raise exception 'the owner bypasses row security: %', v_found;
  end if;
end;
$$;
