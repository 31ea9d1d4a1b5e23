-- Schemas, tables, views, types: lf_sql_owner's. Functions: his, or lf_sql_engine's where the source says so.
-- breaks: alter table lenses.workflows owner to session_user
select 'schema ' || r.nspname from our_schemas as r where r.nspowner <> 'lf_sql_owner'::regrole
union all
select c.oid::regclass::text
from pg_class as c
join our_schemas as r on r.oid = c.relnamespace
where c.relowner <> 'lf_sql_owner'::regrole
union all
select t.typname from pg_type as t join our_schemas as r on r.oid = t.typnamespace
where t.typowner <> 'lf_sql_owner'::regrole
union all
select f.identity
from our_functions as f
left join lf_sql.sources as s
  on s.kind = 'function' and s.schema_name = f.nspname and s.object_name = f.proname
where f.proowner::regrole::text is distinct from 'lf_sql_' || s.owned_by
