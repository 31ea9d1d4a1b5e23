-- owner: lf_sql_engine
-- Why pg_net must not be called here, and what to do; no row where all is well. It reads the system
-- catalogues only. A role that may create objects in the database could have made a schema net, a
-- function in it, or a trigger on its queue, which would run as lf_sql_engine; so a superuser must
-- own all of it. Names are looked up there too, because to_regclass() raises where we may not look
-- into the schema. A caller that locks net.http_request_queue in row exclusive mode first keeps it
-- as it was found.
create or replace function lenses.fn_net_trouble()
returns table (problem text, advice text)
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
set jit = off
as $$
with net as materialized (
  select n.oid, n.nspowner from pg_namespace as n where n.nspname = 'net'
),

parts as (
  select 'schema net' as what, n.nspowner as owner from net as n
  union all
  select 'function ' || p.oid::regprocedure, p.proowner
  from pg_proc as p where p.pronamespace in (select n.oid from net as n)
  union all
  select 'relation ' || c.oid::regclass, c.relowner
  from pg_class as c
  where c.relnamespace in (select n.oid from net as n)
    and c.relkind in ('r', 'p', 'v', 'm', 'f', 'S')
  union all
  select format('trigger %s on %s', g.tgname, c.oid::regclass), p.proowner
  from pg_trigger as g
  inner join pg_class as c on c.oid = g.tgrelid
  inner join pg_proc as p on p.oid = g.tgfoid
  where c.relnamespace in (select n.oid from net as n) and not g.tgisinternal
),

strangers as (
  select p.what, r.rolname
  from parts as p
  inner join pg_roles as r on r.oid = p.owner
  where not r.rolsuper
  order by p.what
  limit 1
),

needed as (
  select
    (
      select p.oid from pg_proc as p
      where p.pronamespace = n.oid and p.proname = 'http_post'
        and oidvectortypes(p.proargtypes) = 'text, jsonb, jsonb, jsonb, integer'
    ) as post,
    (
      select c.oid from pg_class as c
      where c.relnamespace = n.oid and c.relname = 'http_request_queue' and c.relkind = 'r'
    ) as queue,
    (
      select c.oid from pg_class as c
      where c.relnamespace = n.oid and c.relname = '_http_response' and c.relkind = 'r'
    ) as answers
  from net as n
),

ours as (
  select
    has_schema_privilege('net', 'usage') and has_function_privilege(d.post, 'execute')
    and has_table_privilege(d.answers, 'select')
    and (p.prosecdef or (
      has_table_privilege(d.queue, 'insert') and has_table_privilege(d.queue, 'select')
    )) as may_post
  from needed as d
  inner join pg_proc as p on p.oid = d.post
  where d.queue is not null and d.answers is not null
)

select 'pg_net is not installed', 'as a superuser: create extension pg_net'
where not exists (select from net)
union all
select s.what || ' belongs to ' || s.rolname || ', so pg_net is not called',
  'as a superuser: drop it, or give it to a superuser'
from strangers as s
union all
select 'the schema net is not that of pg_net', 'as a superuser: create extension pg_net'
where exists (select from net) and not exists (select from ours)
union all
select current_user || ' may not post by pg_net', format(
  'as a superuser: grant usage on schema net to %1$I; grant all on all functions in schema net to '
  '%1$I; grant select, insert on all tables in schema net to %1$I; '
  'grant usage on all sequences in schema net to %1$I', current_user)
from ours as o where not o.may_post
limit 1
$$;
