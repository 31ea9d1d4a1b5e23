-- What breaks the isolation of tenants from outside our schemas: attributes and members of roles,
-- default privileges, settings of roles and of the database, event triggers. One row each, from the
-- system catalogues only, with the statement that repairs it. is_fatal: nothing is installed beside
-- it. role_name: which role gains by it, where it is one. Members of the owner roles may be
-- superusers, the connected role and, before PostgreSQL 16, roles that may create roles (they could
-- join anyway).
with roles as (
  select
    r.oid,
    r.rolname::text as name,
    r.rolname in ('lf_sql_owner', 'lf_sql_engine') as is_owner,
    r.rolsuper
    or r.rolcreaterole and pg_catalog.current_setting('server_version_num')::integer < 160000
    or r.rolname = current_user as is_trusted,
    pg_catalog.array_remove(array[
      case when r.rolsuper then 'superuser' end,
      case when r.rolbypassrls and r.rolname <> 'service_role' then 'bypassrls' end,
      case when r.rolcreaterole then 'createrole' end,
      case when r.rolreplication then 'replication' end,
      case when r.rolcreatedb then 'createdb' end,
      case when r.rolcanlogin and r.rolname <> 'service_role' then 'login' end
    ], null) as attributes,
    r.rolsuper or r.rolbypassrls or r.rolcreaterole or r.rolreplication or r.rolname in (
      'lf_sql_owner', 'lf_sql_engine', 'service_role', 'pg_read_all_data', 'pg_write_all_data',
      'pg_execute_server_program', 'pg_read_server_files', 'pg_write_server_files',
      'pg_signal_backend',
      'pg_database_owner'
    ) as is_powerful
  from pg_catalog.pg_roles as r
),

ours as (
  select r.* from roles as r
  where r.name in ('lf_sql_owner', 'lf_sql_engine', 'anon', 'authenticated', 'service_role')
    and r.name <> current_user
),

settings as (
  select
    s.setdatabase,
    coalesce(r.rolname::text, '') as role_name,
    pg_catalog.split_part(c.setting, '=', 1) as name,
    pg_catalog.substr(c.setting, pg_catalog.strpos(c.setting, '=') + 1) as value
  from pg_catalog.pg_db_role_setting as s
  left join pg_catalog.pg_roles as r on s.setrole = r.oid
  cross join lateral pg_catalog.unnest(s.setconfig) as c (setting)
  where s.setdatabase in (
    0, (select d.oid from pg_catalog.pg_database as d
      where d.datname = pg_catalog.current_database()))
)

select
  'role' as kind,
  r.name as identity,
  'has ' || pg_catalog.array_to_string(r.attributes, ', ') as problem,
  pg_catalog.format('alter role %I no%s', r.name,
    pg_catalog.array_to_string(r.attributes, ' no')) as remedy,
  null as role_name,
  not r.is_owner and r.attributes && array['superuser', 'bypassrls', 'createrole',
    'replication'] as is_fatal
from ours as r
where pg_catalog.cardinality(r.attributes) > 0

union all

-- Members of an owner role: each of them owns the tables or sees every tenant.
select
  'membership',
  pg_catalog.format('%s in %s', m.name, g.name),
  'may act as it',
  pg_catalog.format('revoke %I from %I', g.name, m.name),
  m.name,
  pg_catalog.to_regnamespace('lf_sql') is null
from pg_catalog.pg_auth_members as a
inner join ours as g on a.roleid = g.oid and g.is_owner
inner join roles as m on a.member = m.oid
where not m.is_trusted and m.name not in ('anon', 'authenticated', 'service_role')

union all

-- What a request role or an owner role is a member of, directly or through other roles.
select
  'membership',
  pg_catalog.format('%s in %s', m.name, g.name),
  case
    when p.name = g.name then 'it gains what that role may do'
    else pg_catalog.format('it gains what %s may do', p.name)
  end,
  pg_catalog.format('revoke %I from %I', g.name, m.name),
  null,
  true
from pg_catalog.pg_auth_members as a
inner join ours as m on a.member = m.oid
inner join roles as g on a.roleid = g.oid
inner join lateral (
  select w.name
  from roles as w
  where (w.is_powerful or m.name = 'anon' and w.name = 'authenticated')
    and pg_catalog.pg_has_role(g.oid, w.oid, 'member')
  order by w.name <> g.name, w.name
  limit 1
) as p on true

union all

select
  'membership',
  pg_catalog.format('%s in %s', m.name, g.name),
  'may pass it on',
  pg_catalog.format('revoke admin option for %I from %I', g.name, m.name),
  m.name,
  false
from pg_catalog.pg_auth_members as a
inner join ours as g on a.roleid = g.oid
inner join roles as m on a.member = m.oid
where a.admin_option and not m.is_trusted

union all

select
  'default privileges',
  pg_catalog.format('%s %s', o.rolname, coalesce('in ' || n.nspname, 'everywhere')),
  pg_catalog.format('what it makes is open to %s', coalesce(g.rolname, 'PUBLIC')),
  pg_catalog.format(
    'alter default privileges for role %I%s revoke all on %s from %s', o.rolname,
    case when n.oid is not null then pg_catalog.format(' in schema %I', n.nspname) end,
    case d.defaclobjtype when 'r' then 'tables' when 'S' then 'sequences' when 'f' then 'functions'
      when 'T' then 'types'
      else 'schemas' end,
    coalesce(pg_catalog.quote_ident(g.rolname), 'public')
  ),
  g.rolname::text,
  false
from pg_catalog.pg_default_acl as d
inner join pg_catalog.pg_roles as o on d.defaclrole = o.oid
left join pg_catalog.pg_namespace as n on d.defaclnamespace = n.oid
cross join lateral (select distinct x.grantee from pg_catalog.aclexplode(d.defaclacl) as x) as a
left join pg_catalog.pg_roles as g on a.grantee = g.oid
where (
  n.nspname in ('lf_sql', 'lensers', 'lenses', 'agents', 'automation')
  or n.oid is null and o.rolname in ('lf_sql_owner', 'lf_sql_engine')
)
and (a.grantee = 0 or g.rolname in ('anon', 'authenticated', 'service_role'))

union all

select
  'setting',
  pg_catalog.format('%s of %s', s.name, case s.role_name when '' then 'the database'
    else s.role_name end),
  pg_catalog.format('is %s', s.value),
  pg_catalog.format(
    'alter %s reset %s',
    case
      when s.role_name = '' and s.setdatabase = 0 then 'role all'
      when s.role_name = '' then pg_catalog.format('database %I', pg_catalog.current_database())
      when s.setdatabase = 0 then pg_catalog.format('role %I', s.role_name)
      else pg_catalog.format('role %I in database %I', s.role_name, pg_catalog.current_database())
    end,
    s.name
  ),
  null,
  false
from settings as s
where
  pg_catalog.lower(s.name) = 'search_path' and s.value ~ '[^", ]+.*,[ "]*pg_catalog'
  or pg_catalog.lower(s.name) = 'session_replication_role' and s.value <> 'origin'
  or pg_catalog.lower(s.name) = 'row_security' and s.role_name in ('lf_sql_owner', 'lf_sql_engine')
  -- For all roles: queries that row security applies to then fail, and with them each tick by
  -- pg_cron.
  or pg_catalog.lower(s.name) = 'row_security' and s.role_name = ''
  and pg_catalog.lower(s.value) not in ('on', 'true', 'yes', '1')
  -- A session then runs as another role than it logged in as, and code of that role can become the
  -- login role again.
  or pg_catalog.lower(s.name) = 'role' and s.role_name = ''
  or s.name ~* '^request[.]jwt'

union all

select
  'event trigger',
  e.evtname::text,
  pg_catalog.format('runs a function of %s whenever an object is created or dropped', o.rolname),
  pg_catalog.format('alter event trigger %I disable', e.evtname),
  o.rolname::text,
  false
from pg_catalog.pg_event_trigger as e
inner join pg_catalog.pg_proc as p on e.evtfoid = p.oid
inner join pg_catalog.pg_roles as o on p.proowner = o.oid
where e.evtenabled <> 'D'
  and not o.rolsuper
  and o.rolname not in (current_user, 'lf_sql_owner', 'lf_sql_engine')
order by 1, 2, 3;
