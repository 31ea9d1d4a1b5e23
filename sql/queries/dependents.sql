-- Other people's objects that stand on ours, which an uninstall would take down with it.
with ours as (
  select n.oid from pg_catalog.pg_namespace as n
  where n.nspname in ('lf_sql', 'lensers', 'lenses', 'agents', 'automation')
),

things as (
  select 'pg_catalog.pg_class'::pg_catalog.regclass as classid, c.oid as objid
  from pg_catalog.pg_class as c where c.relnamespace in (select o.oid from ours as o)
  union all
  select 'pg_catalog.pg_type'::pg_catalog.regclass, t.oid
  from pg_catalog.pg_type as t where t.typnamespace in (select o.oid from ours as o)
  union all
  select 'pg_catalog.pg_proc'::pg_catalog.regclass, p.oid
  from pg_catalog.pg_proc as p
  inner join pg_catalog.pg_namespace as n on n.oid = p.pronamespace
  left join lf_sql.sources as s
    on s.kind = 'function' and s.schema_name = n.nspname and s.object_name = p.proname
  where p.pronamespace in (select o.oid from ours as o)
    or (n.nspname = 'public' and s.object_name is not null)
)

select distinct pg_catalog.pg_describe_object(w.classid, w.objid, 0) as description
from (
  -- The rule, constraint, trigger, default or policy that depends on ours stands for its table or
  -- view.
  select
    case when x.relid is null then d.classid
      else 'pg_catalog.pg_class'::pg_catalog.regclass end as classid,
    coalesce(x.relid, d.objid) as objid
  from things as t
  inner join pg_catalog.pg_depend as d on d.refclassid = t.classid and d.refobjid = t.objid
    and d.deptype = 'n'
  left join lateral (
    select r.ev_class as relid from pg_catalog.pg_rewrite as r
    where d.classid = 'pg_catalog.pg_rewrite'::pg_catalog.regclass and r.oid = d.objid
    union all
    select nullif(o.conrelid, 0) from pg_catalog.pg_constraint as o
    where d.classid = 'pg_catalog.pg_constraint'::pg_catalog.regclass and o.oid = d.objid
    union all
    select g.tgrelid from pg_catalog.pg_trigger as g
    where d.classid = 'pg_catalog.pg_trigger'::pg_catalog.regclass and g.oid = d.objid
    union all
    select f.adrelid from pg_catalog.pg_attrdef as f
    where d.classid = 'pg_catalog.pg_attrdef'::pg_catalog.regclass and f.oid = d.objid
    union all
    select y.polrelid from pg_catalog.pg_policy as y
    where d.classid = 'pg_catalog.pg_policy'::pg_catalog.regclass and y.oid = d.objid
  ) as x on true
) as w
where
  w.classid in (
    'pg_catalog.pg_class'::pg_catalog.regclass, 'pg_catalog.pg_proc'::pg_catalog.regclass,
    'pg_catalog.pg_type'::pg_catalog.regclass
  )
  and not exists (select 1 from things as t where t.classid = w.classid and t.objid = w.objid)
order by 1;
