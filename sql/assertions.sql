-- The last step of an install: raises, and so rolls everything back, where the catalogue breaks a
-- rule of this project. Each rule is one SELECT that returns what breaks it.

do $$
declare
  v_schemas constant text[] := array['lf_sql', 'lensers', 'lenses', 'agents', 'automation'];
  v_audit constant text[] := array[
    'lenses.workflow_run_events', 'agents.agent_run_events', 'agents.action_logs',
    'agents.approval_attempts'
  ];
  v_is_weak constant boolean := 'lf_sql_owner' = current_user;
  v_rule text;
  v_offenders text;
begin
  for v_rule, v_offenders in
    with ours as (
      select p.*, n.nspname || '.' || p.proname as name,
        p.oid::pg_catalog.regprocedure::text as signature
      from lf_sql.sources as s
      inner join pg_catalog.pg_namespace as n on n.nspname = s.schema_name
      inner join pg_catalog.pg_proc as p on p.pronamespace = n.oid and p.proname = s.object_name
      where s.kind = 'function'
    ),

    relations as (
      select c.*, n.nspname || '.' || c.relname as name
      from pg_catalog.pg_class as c
      inner join pg_catalog.pg_namespace as n on n.oid = c.relnamespace
      where n.nspname = any(v_schemas)
    ),

    triggers as (
      select t.*, c.name as table_name
      from pg_catalog.pg_trigger as t
      inner join relations as c on c.oid = t.tgrelid
      where not t.tgisinternal
    ),

    clients as (
      select r.oid, r.rolname
      from pg_catalog.pg_roles as r
      where r.rolname in ('anon', 'authenticated', 'service_role') and not r.rolsuper
        and r.rolname <> current_user
    ),

    found as (
      select 'row security is not on and forced for' as rule, c.name as offender
      from relations as c
      where c.relkind in ('r', 'p') and not (c.relrowsecurity and c.relforcerowsecurity)
      union all
      select 'a view is not security_invoker', c.name
      from relations as c
      where c.relkind = 'v' and not coalesce(c.reloptions @> array['security_invoker=true'], false)
      union all
      select 'policies do not reach', c.name from relations as c where c.relkind in ('m', 'f')
      union all
      select 'PUBLIC may execute', f.signature
      from ours as f
      cross join lateral pg_catalog.aclexplode(
        coalesce(f.proacl, pg_catalog.acldefault('f', f.proowner))
      ) as a
      where a.grantee = 0
      union all
      -- A procedure that commits can carry no SET clause; it is invoker and runs under the caller's
      -- path.
      select 'search_path is not pinned to pg_catalog, pg_temp', f.signature
      from ours as f
      where not coalesce('search_path=pg_catalog, pg_temp' = any(f.proconfig), false)
        and (f.prosecdef or f.prokind <> 'p')
      union all
      select 'more than one signature', f.name from ours as f group by f.name
      having pg_catalog.count(*) > 1
      union all
      select 'the owner bypasses row security', f.signature
      from ours as f
      inner join pg_catalog.pg_roles as r on r.oid = f.proowner
      where f.prosecdef and (r.rolsuper or r.rolbypassrls) and not v_is_weak
      union all
      select 'may run before a policy: LEAKPROOF', f.signature from ours as f where f.proleakproof
      union all
      select 'a client may set the clock', f.signature
      from ours as f
      inner join clients as r on pg_catalog.has_function_privilege(r.oid, f.oid, 'execute')
      where f.provolatile = 'v' and f.proargnames && array['p_now', 'p_clock', 'p_today']
      union all
      select 'a guard is not enabled always', t.table_name || ' ' || t.tgname
      from triggers as t
      where t.tgenabled <> 'A' and (
        t.tgname ~ '(refuse|guard)'
        or t.tgtype & 2 <> 0 and t.table_name in (
          'lenses.workflow_versions', 'agents.workflow_assignments')
      )
      union all
      select 'not append-only', c.name || ' ' || v.verb
      from relations as c
      cross join (values ('delete', 8), ('update', 16), ('truncate', 32)) as v (verb, bit)
      where (c.name = any(v_audit) or c.relispartition and c.relkind = 'r') and not exists (
        select 1
        from triggers as t
        where t.tgrelid = c.oid and t.tgenabled = 'A' and t.tgtype & v.bit <> 0
          and t.tgtype & 2 <> 0
          and t.tgfoid = pg_catalog.to_regprocedure('lenses.tg_append_only()')
      )
      union all
      select r.rolname || ' may ' || v.verb, c.name
      from relations as c
      cross join clients as r
      cross join pg_catalog.unnest(
        array['insert', 'update', 'delete', 'truncate', 'trigger']) as v (verb)
      where c.relkind in ('r', 'p', 'v') and pg_catalog.has_table_privilege(r.oid, c.oid, v.verb)
        and not (
          r.rolname = 'service_role' and v.verb in ('insert', 'update') and c.relkind <> 'v'
          and c.name <> all(v_audit) and not c.relispartition and c.name not like 'lf\_sql.%'
        )
      union all
      select 'anon may select', c.name
      from relations as c
      inner join clients as r on r.rolname = 'anon'
        and pg_catalog.has_any_column_privilege(r.oid, c.oid, 'select')
      where c.relkind in ('r', 'p', 'v')
      union all
      select 'anon may execute', f.signature
      from ours as f
      inner join clients as r on r.rolname = 'anon'
        and pg_catalog.has_function_privilege(r.oid, f.oid, 'execute')
      union all
      select r.rolname || ' may create in', n.nspname
      from pg_catalog.pg_namespace as n
      inner join clients as r on pg_catalog.has_schema_privilege(r.oid, n.oid, 'create')
      where n.nspname = any(v_schemas)
    )

    select w.rule, pg_catalog.string_agg(w.offender, ', ' order by w.offender)
    from found as w
    group by w.rule
    order by w.rule
  loop
    raise exception using
      message = pg_catalog.format('%s: %s', v_rule, v_offenders);
  end loop;
end;
$$;
