-- What stands where ours belongs and is not ours: a row each, from the system catalogues alone, so that nobody's code
-- runs. Asked before anything of ours is read or called, under a pinned search_path. Trusted as owners: lf_sql_owner and
-- lf_sql_engine, superusers, the role that is connected, and, for a role without any power, the database's owner.
-- @names@: our functions in public.
with me as (
  select
    r.oid,
    r.rolsuper or r.rolcreaterole or r.rolbypassrls or r.rolreplication as has_power
  from pg_catalog.pg_roles as r
  where r.rolname = current_user
),

strangers as (
  select
    r.oid,
    r.rolname
  from pg_catalog.pg_roles as r
  cross join me as m
  where not r.rolsuper
    and r.oid <> 10
    and r.oid <> m.oid
    and r.rolname not in ('lf_sql_owner', 'lf_sql_engine')
    and (
      m.has_power or not exists (
        select 1 from pg_catalog.pg_database as d
        where d.datname = pg_catalog.current_database() and d.datdba = r.oid
      )
    )
),

our_schemas as (
  select
    n.oid,
    n.nspname,
    n.nspowner
  from pg_catalog.pg_namespace as n
  where n.nspname in ('lf_sql', 'lensers', 'lenses', 'agents', 'automation')
),

relations as (
  select
    c.oid,
    c.relkind,
    c.relowner,
    r.nspname || '.' || c.relname as name
  from pg_catalog.pg_class as c
  inner join our_schemas as r on c.relnamespace = r.oid
  where c.relkind in ('r', 'p', 'v', 'm', 'f', 'S', 'c')
)

select
  w.what,
  w.why,
  w.owner,
  w.remedy
from (
  select
    1 as rank,
    'schema ' || r.nspname as what,
    'belongs to ' || s.rolname as why,
    s.rolname::text as owner,
    pg_catalog.format('drop schema %I cascade', r.nspname) as remedy
  from our_schemas as r
  inner join strangers as s on r.nspowner = s.oid

  union all

  select
    2,
    k.word || ' ' || c.name,
    'belongs to ' || s.rolname,
    s.rolname::text,
    pg_catalog.format('drop %s %s cascade', k.word, c.oid::pg_catalog.regclass)
  from relations as c
  inner join strangers as s on c.relowner = s.oid
  inner join (
    values ('r', 'table'), ('p', 'table'), ('v', 'view'), ('m', 'materialized view'), ('f', 'foreign table'),
      ('S', 'sequence'), ('c', 'type')
  ) as k (relkind, word) on c.relkind::text = k.relkind

  union all

  select
    3,
    k.word || ' ' || c.name,
    'stands where lf-sql has none',
    null,
    pg_catalog.format('drop %s %s', k.word, c.oid::pg_catalog.regclass)
  from relations as c
  inner join (values ('v', 'view'), ('m', 'materialized view'), ('f', 'foreign table')) as k (relkind, word)
    on c.relkind::text = k.relkind
  where c.relkind in ('m', 'f') or c.name like 'lf\_sql.%'

  union all

  select
    4,
    'function ' || p.oid::pg_catalog.regprocedure::text,
    'belongs to ' || s.rolname,
    s.rolname::text,
    pg_catalog.format('drop routine %s', p.oid::pg_catalog.regprocedure)
  from pg_catalog.pg_proc as p
  inner join pg_catalog.pg_namespace as n on p.pronamespace = n.oid
  inner join strangers as s on p.proowner = s.oid
  where n.oid in (select r.oid from our_schemas as r)
    or n.nspname = 'public' and p.proname = any(@names@::name[])

  union all

  select
    5,
    'type ' || t.oid::pg_catalog.regtype::text,
    'belongs to ' || s.rolname,
    s.rolname::text,
    pg_catalog.format('drop type %s', t.oid::pg_catalog.regtype)
  from pg_catalog.pg_type as t
  inner join our_schemas as r on t.typnamespace = r.oid
  inner join strangers as s on t.typowner = s.oid
  where t.typrelid = 0 and t.typelem = 0

  union all

  select
    6,
    pg_catalog.format('trigger %s on %s', g.tgname, c.name),
    'calls a function of ' || s.rolname,
    s.rolname::text,
    pg_catalog.format('drop trigger %I on %s', g.tgname, c.oid::pg_catalog.regclass)
  from pg_catalog.pg_trigger as g
  inner join relations as c on g.tgrelid = c.oid
  inner join pg_catalog.pg_proc as p on g.tgfoid = p.oid
  inner join strangers as s on p.proowner = s.oid

  union all

  select
    7,
    pg_catalog.format('rule %s on %s', u.rulename, c.name),
    'stands where lf-sql has none',
    null,
    pg_catalog.format('drop rule %I on %s', u.rulename, c.oid::pg_catalog.regclass)
  from pg_catalog.pg_rewrite as u
  inner join relations as c on u.ev_class = c.oid
  where u.rulename <> '_RETURN'
) as w
order by w.rank, w.what;
