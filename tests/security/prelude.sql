-- What the rules look at; each rule's query goes on from here.
with our_schemas as (
  select n.oid, n.nspname, n.nspowner, n.nspacl
  from pg_namespace as n
  where n.nspname in ('lf_sql', 'lensers', 'lenses', 'agents', 'automation')
),

our_functions as (
  select
    p.*,
    n.nspname,
    format('%s.%s(%s)', n.nspname, p.proname, oidvectortypes(p.proargtypes)) as identity,
    lower(regexp_replace(p.prosrc, '--[^\n]*', '', 'g')) as body
  from pg_proc as p
  join pg_namespace as n on n.oid = p.pronamespace
  where n.oid in (select r.oid from our_schemas as r)
    or (n.nspname = 'public' and exists (
      select from lf_sql.sources as s
      where s.kind = 'function' and s.schema_name = 'public' and s.object_name = p.proname
    ))
),

our_tables as (
  select
    c.*,
    r.nspname,
    r.nspname || '.' || c.relname as identity,
    exists (
      select from pg_attribute as a
      where a.attrelid = c.oid and a.attname = 'lenser_id' and not a.attisdropped
    ) as is_tenants,
    -- Made by lenses.fn_add_partitions, and gone with its day.
    c.relispartition and c.relname ~ '_[0-9]{8}$' as is_day
  from pg_class as c
  join our_schemas as r on r.oid = c.relnamespace
  where c.relkind in ('r', 'p')
),

our_policies as (
  select
    p.*,
    t.identity as table_name,
    t.is_tenants,
    t.identity || ' ' || p.polname as identity,
    coalesce(pg_get_expr(p.polqual, p.polrelid), '') as using_text,
    coalesce(pg_get_expr(p.polwithcheck, p.polrelid), '') as check_text
  from pg_policy as p
  join our_tables as t on t.oid = p.polrelid
),

audit_tables as (
  select t.* from our_tables as t
  where t.relispartition or t.identity in (
    'lenses.workflow_run_events', 'agents.agent_run_events', 'agents.action_logs', 'agents.approval_attempts'
  )
),

request_roles as (
  select r.oid, r.rolname from pg_roles as r where r.rolname in ('anon', 'authenticated', 'service_role')
)
