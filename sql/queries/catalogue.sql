-- The catalogue of our schemas (and of our functions in public), one row for each object, without
-- OIDs: what an install leaves, and what `verify` compares. Texts that the server prints itself
-- (definitions of indexes, constraints, views, defaults) have keys that end with `_def`, because
-- another major version may print them differently. Conditions of triggers and constraints stand
-- without parentheses, because a dump nests fewer of them. It needs search_path = pg_catalog, so
-- that names come out qualified.
with our_schemas as (
  select n.oid, n.nspname, n.nspowner, n.nspacl
  from pg_namespace as n
  where n.nspname in ('lf_sql', 'lensers', 'lenses', 'agents', 'automation')
),

-- Who stands for lf_sql_engine here: the owner of one of its functions.
engine as (
  select p.proowner as oid
  from pg_proc as p
  inner join our_schemas as r on r.oid = p.pronamespace
  where r.nspname = 'lenses' and p.proname = 'fn_kept_runs'
),

-- What lenses.fn_add_partitions makes comes and goes with its day. Another partition, or one whose
-- guards, row security, owner or grants are not as made there, is an object as others are.
days as (
  select c.oid
  from pg_class as c
  inner join our_schemas as r on r.oid = c.relnamespace
  inner join pg_inherits as i on i.inhrelid = c.oid
  inner join pg_class as p on p.oid = i.inhparent
  where c.relkind = 'r' and p.relkind = 'p' and c.relname ~ ('^' || p.relname || '_[0-9]{8}$')
    and c.relnamespace = p.relnamespace and c.relowner = p.relowner
    and c.relrowsecurity and c.relforcerowsecurity
    and (
      select count(*) = 1 and bool_and(
        o.polroles = array[(select e.oid from engine as e)])
      from pg_policy as o where o.polrelid = c.oid)
    and not exists (select from pg_rewrite as w where w.ev_class = c.oid)
    and not exists (
      select from aclexplode(c.relacl) as a
      where a.grantee not in (c.relowner, (select e.oid from engine as e)))
    and (
      select count(*) = 3 and bool_and(t.tgenabled = 'A')
      from pg_trigger as t
      where t.tgrelid = c.oid and not t.tgisinternal)
),

relations as (
  select c.*, r.nspname
  from pg_class as c
  inner join our_schemas as r on r.oid = c.relnamespace
  where c.relkind in ('r', 'p', 'v', 'm', 'S', 'f') and c.oid not in (select d.oid from days as d)
)

select
  'schema' as kind,
  r.nspname::text as identity,
  jsonb_build_object(
    'owner', pg_get_userbyid(r.nspowner),
    'acl', (
      select
        coalesce(
          jsonb_agg(
            coalesce(nullif(a.grantee, 0)::regrole::text, 'PUBLIC') || ':' || a.privilege_type
            order by coalesce(nullif(a.grantee, 0)::regrole::text, 'PUBLIC') collate "C",
              a.privilege_type collate "C"
          ), '[]'
        )
      from aclexplode(r.nspacl) as a
      where a.grantee <> r.nspowner
    )
  ) as facts
from our_schemas as r

union all

select
  case p.prokind when 'p' then 'procedure' else 'function' end,
  format('%s.%s(%s)', n.nspname, p.proname, pg_get_function_identity_arguments(p.oid)),
  jsonb_build_object(
    'owner', pg_get_userbyid(p.proowner),
    'body', case when s.is_replaceable then null
      else encode(sha256(convert_to(p.prosrc, 'utf8')), 'hex') end,
    'result', pg_get_function_result(p.oid),
    'arguments_def', pg_get_function_arguments(p.oid),
    'language', (select l.lanname from pg_language as l where l.oid = p.prolang),
    'volatility', p.provolatile,
    'security definer', p.prosecdef,
    'strict', p.proisstrict,
    'leakproof', p.proleakproof,
    'parallel', p.proparallel,
    'settings', p.proconfig,
    'cost', p.procost,
    'rows', p.prorows,
    'is ours', s.object_name is not null,
    'acl', (
      select
        coalesce(
          jsonb_agg(
            coalesce(nullif(a.grantee, 0)::regrole::text, 'PUBLIC') || ':' || a.privilege_type
            order by coalesce(nullif(a.grantee, 0)::regrole::text, 'PUBLIC') collate "C",
              a.privilege_type collate "C"
          ), '[]'
        )
      from aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) as a
      where a.grantee <> p.proowner
    )
  )
from pg_proc as p
inner join pg_namespace as n on n.oid = p.pronamespace
left join lf_sql.sources as s
  on s.kind = 'function' and s.schema_name = n.nspname and s.object_name = p.proname
where p.pronamespace in (select r.oid from our_schemas as r)
  or (n.nspname = 'public' and s.object_name is not null)

union all

select
  case c.relkind when 'v' then 'view' when 'm' then 'materialized view' when 'S' then 'sequence'
    else 'table' end,
  format('%s.%s', c.nspname, c.relname),
  jsonb_strip_nulls(
    jsonb_build_object(
      'owner', pg_get_userbyid(c.relowner),
      'options', to_jsonb(c.reloptions),
      'row security', case when c.relkind in ('r', 'p') then c.relrowsecurity end,
      'forced', case when c.relkind in ('r', 'p') then c.relforcerowsecurity end,
      'unlogged', c.relpersistence = 'u',
      'view_def', case when c.relkind in ('v', 'm') then md5(pg_get_viewdef(c.oid)) end,
      'columns', case when c.relkind <> 'S' then (
        select
          jsonb_object_agg(
            a.attname,
            format_type(a.atttypid, a.atttypmod)
            || case when a.attnotnull then ' not null' else '' end
            || case when not c.relispartition then case a.attidentity
              when 'a' then ' always as identity' when 'd' then ' by default as identity' else ''
            end else '' end
            || case when a.attgenerated = 's' then ' stored' else '' end
          )
        from pg_attribute as a
        where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
      ) end,
      'defaults_def', (
        select jsonb_object_agg(a.attname, pg_get_expr(d.adbin, d.adrelid))
        from pg_attrdef as d
        inner join pg_attribute as a on a.attrelid = d.adrelid and a.attnum = d.adnum
        where d.adrelid = c.oid
      ),
      'acl', (
        select
          coalesce(
            jsonb_agg(
              coalesce(nullif(a.grantee, 0)::regrole::text, 'PUBLIC') || ':' || a.privilege_type
              order by coalesce(nullif(a.grantee, 0)::regrole::text, 'PUBLIC') collate "C",
                a.privilege_type collate "C"
            ), '[]'
          )
        from aclexplode(c.relacl) as a
        where a.grantee <> c.relowner and a.privilege_type <> 'MAINTAIN'
      ),
      'column acl', (
        select
          jsonb_agg(
            format('%s %s:%s', t.attname, coalesce(nullif(a.grantee, 0)::regrole::text, 'PUBLIC'),
              a.privilege_type)
            order by t.attname collate "C", a.grantee::regrole::text collate "C",
              a.privilege_type collate "C"
          )
        from pg_attribute as t
        cross join lateral aclexplode(t.attacl) as a
        where t.attrelid = c.oid
      )
    )
  )
from relations as c

union all

select
  'index',
  format('%s.%s', c.nspname, i.relname),
  jsonb_build_object('valid', x.indisvalid, 'definition_def', pg_get_indexdef(x.indexrelid))
from pg_index as x
inner join relations as c on c.oid = x.indrelid
inner join pg_class as i on i.oid = x.indexrelid
where i.relname !~ '^lf_ahead_[0-9a-f]{16}$'

union all

select
  'constraint',
  format('%s.%s.%s', c.nspname, c.relname, o.conname),
  jsonb_build_object('validated', o.convalidated, 'definition_def',
    translate(pg_get_constraintdef(o.oid), '()', ''))
from pg_constraint as o
inner join relations as c on c.oid = o.conrelid
where o.contype not in ('n', 't')

union all

select
  'trigger',
  format('%s.%s.%s', c.nspname, c.relname, t.tgname),
  jsonb_build_object('enabled', t.tgenabled, 'definition_def',
    translate(pg_get_triggerdef(t.oid), '()', ''))
from pg_trigger as t
inner join relations as c on c.oid = t.tgrelid
where not t.tgisinternal

union all

select
  'rule',
  format('%s.%s.%s', c.nspname, c.relname, w.rulename),
  jsonb_build_object('enabled', w.ev_enabled)
from pg_rewrite as w
inner join relations as c on c.oid = w.ev_class
where w.rulename <> '_RETURN'

union all

select
  'policy',
  format('%s.%s.%s', c.nspname, c.relname, p.polname),
  jsonb_build_object(
    'command', p.polcmd,
    'permissive', p.polpermissive,
    'roles', (
      select
        jsonb_agg(
          coalesce(nullif(g.oid, 0)::regrole::text, 'PUBLIC')
          order by nullif(g.oid, 0)::regrole::text collate "C"
        )
      from unnest(p.polroles) as g (oid)
    ),
    'using_def', pg_get_expr(p.polqual, p.polrelid),
    'check_def', pg_get_expr(p.polwithcheck, p.polrelid)
  )
from pg_policy as p
inner join relations as c on c.oid = p.polrelid

union all

select
  'type',
  format('%s.%s', r.nspname, t.typname),
  jsonb_build_object(
    'owner', pg_get_userbyid(t.typowner),
    'labels', (
      select jsonb_agg(e.enumlabel order by e.enumsortorder) from pg_enum as e
      where e.enumtypid = t.oid
    ),
    'attributes', (
      select jsonb_agg(a.attname || ' ' || format_type(a.atttypid, a.atttypmod) order by a.attnum)
      from pg_attribute as a
      where a.attrelid = t.typrelid and a.attnum > 0 and not a.attisdropped
    ),
    'base', case when t.typtype = 'd' then format_type(t.typbasetype, t.typtypmod) end
  )
from pg_type as t
inner join our_schemas as r on r.oid = t.typnamespace
left join pg_class as c on c.oid = t.typrelid
where t.typtype in ('d', 'e', 'r') or (t.typtype = 'c' and c.relkind = 'c')

union all

select
  'role',
  w.role_name,
  jsonb_build_object('superuser', g.rolsuper, 'bypasses row security', g.rolbypassrls, 'can log in',
    g.rolcanlogin)
from unnest(array['lf_sql_owner', 'lf_sql_engine']) as w (role_name)
inner join pg_roles as g on g.rolname = w.role_name

union all

select
  'membership',
  format('%s in %s', m.rolname, w.role_name),
  '{}'::jsonb
from pg_roles as m
inner join unnest(array['lf_sql_owner', 'lf_sql_engine']) as w (role_name)
  on to_regrole(w.role_name) is not null
where
  m.rolname in ('anon', 'authenticated', 'service_role', 'authenticator')
  and pg_has_role(m.oid, to_regrole(w.role_name)::oid, 'member')
  and not m.rolsuper;
