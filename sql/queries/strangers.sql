-- What stands in the place of ours and is not ours: one row each, from the system catalogues only,
-- so that no stranger's code runs. Run before anything of ours is read or called, under a pinned
-- search_path. Trusted as owners are lf_sql_owner and lf_sql_engine, superusers, the role that
-- logged in, and roles that may become it. The role that it acts as (another user may have set it:
-- `alter database ... set role`) and the database's owner are trusted only where they gain nothing:
-- code that runs here can become the role that logged in, by `reset role`. @names@: our functions
-- in public.
with me as (
  select
    a.oid as acts_as,
    l.oid as logged_in,
    case when pg_catalog.current_setting('server_version_num')::integer < 160000 then 'member'
      else 'set' end as becomes
  from pg_catalog.pg_roles as a
  cross join pg_catalog.pg_roles as l
  where a.rolname = current_user and l.rolname = session_user
),

-- The powers that this session can gain.
powers as (
  select r.oid
  from pg_catalog.pg_roles as r
  cross join me as m
  where (
    r.rolsuper or r.rolcreaterole or r.rolbypassrls or r.rolreplication
    or r.rolname in ('lf_sql_owner', 'lf_sql_engine', 'service_role', 'authenticated')
    or r.rolname like 'pg\_%' and r.rolname <> 'pg_database_owner'
  )
  and (pg_catalog.pg_has_role(m.logged_in, r.oid, 'member')
    or pg_catalog.pg_has_role(m.acts_as, r.oid, 'member'))
),

strangers as (
  select
    r.oid,
    r.rolname
  from pg_catalog.pg_roles as r
  cross join me as m
  where not r.rolsuper
    and r.oid <> 10
    and r.oid <> m.logged_in
    and r.rolname not in ('lf_sql_owner', 'lf_sql_engine')
    and case
      when r.oid in (select a.member from pg_catalog.pg_auth_members as a)
        then not pg_catalog.pg_has_role(r.oid, m.logged_in, m.becomes)
      else true
    end
    and (
      r.oid <> m.acts_as and not exists (
        select 1 from pg_catalog.pg_database as d
        where d.datname = pg_catalog.current_database() and d.datdba = r.oid
      )
      or exists (select 1 from powers as p
        where not pg_catalog.pg_has_role(r.oid, p.oid, m.becomes))
    )
),

our_schemas as (
  select
    n.oid,
    n.nspname,
    n.nspowner
  from pg_catalog.pg_namespace as n
  where n.nspname in ('lf_sql', 'lensers', 'lenses', 'agents', 'automation', 'lf_fleet')
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
    0 as rank,
    'setting role of the database' as what,
    'makes of you ' || s.rolname as why,
    s.rolname::text as owner,
    pg_catalog.format('alter database %I reset role', d.datname) as remedy
  from me as m
  inner join strangers as s on m.acts_as = s.oid
  inner join pg_catalog.pg_database as d on d.datname = pg_catalog.current_database()
  inner join pg_catalog.pg_db_role_setting as c on d.oid = c.setdatabase and c.setrole = 0
  where exists (select 1 from pg_catalog.unnest(c.setconfig) as g (setting)
    where g.setting like 'role=%')

  union all

  select
    1,
    'schema ' || r.nspname,
    'belongs to ' || s.rolname,
    s.rolname::text,
    pg_catalog.format('drop schema %I cascade', r.nspname)
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
    values ('r', 'table'), ('p', 'table'), ('v', 'view'), ('m', 'materialized view'),
      ('f', 'foreign table'),
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
  inner join (values ('v', 'view'), ('m', 'materialized view'),
    ('f', 'foreign table')) as k (relkind, word)
    on c.relkind::text = k.relkind
  where c.relkind in ('m', 'f') or c.name like 'lf\_sql.%'
    -- These are of `lf-sql cells foreign-tables`; no command reads them.
    or c.name like 'lf\_fleet.%' and c.name not in (
      'lf_fleet.all_health', 'lf_fleet.all_runs', 'lf_fleet.all_schedules', 'lf_fleet.all_tenants'
    )

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

  -- f('x') is a cast where a type of that name exists and no function takes just that.
  select
    5,
    'type ' || t.oid::pg_catalog.regtype::text,
    'belongs to ' || s.rolname,
    s.rolname::text,
    pg_catalog.format('drop %s %s', coalesce(k.word, 'type'), t.oid::pg_catalog.regtype)
  from pg_catalog.pg_type as t
  inner join pg_catalog.pg_namespace as n on t.typnamespace = n.oid
  inner join strangers as s on t.typowner = s.oid
  left join pg_catalog.pg_class as c on t.typrelid = c.oid
  left join (
    values ('r', 'table'), ('p', 'table'), ('v', 'view'), ('m', 'materialized view'),
      ('f', 'foreign table')
  ) as k (relkind, word) on c.relkind::text = k.relkind
  where n.nspname = 'public' and t.typname = any(@names@::name[])

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

  union all

  -- Its action on delete or update runs as the role that deletes or updates, and so do the triggers
  -- of the stranger's table.
  select
    8,
    pg_catalog.format('foreign key %s on %s', f.conname, f.conrelid::pg_catalog.regclass),
    pg_catalog.format('is of %s and refers to %s', s.rolname, c.name),
    s.rolname::text,
    pg_catalog.format('alter table %s drop constraint %I', f.conrelid::pg_catalog.regclass,
      f.conname)
  from pg_catalog.pg_constraint as f
  inner join relations as c on f.confrelid = c.oid
  inner join pg_catalog.pg_class as t on f.conrelid = t.oid
  inner join strangers as s on t.relowner = s.oid
  where f.contype = 'f'
) as w
order by w.rank, w.what;
