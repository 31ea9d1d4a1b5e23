-- A foreign key between tenants' rows carries the tenant: a link across tenants cannot exist.
-- breaks: alter table agents.team_runs add constraint planted foreign key (workflow_run_id) references lenses.workflow_runs (id)
select o.conrelid::regclass || ' ' || o.conname
from pg_constraint as o
join our_tables as t on t.oid = o.conrelid and t.is_tenants
join our_tables as r on r.oid = o.confrelid and r.is_tenants
where o.contype = 'f' and not exists (
  select from unnest(o.conkey, o.confkey) as k (here, there)
  join pg_attribute as a on a.attrelid = t.oid and a.attnum = k.here and a.attname = 'lenser_id'
  join pg_attribute as b on b.attrelid = r.oid and b.attnum = k.there and b.attname = 'lenser_id'
)
