-- No cascade reaches an audit table: it has no foreign keys.
-- breaks: alter table agents.action_logs add constraint planted foreign key (lenser_id) references lensers.profiles (id) on delete cascade
select o.conrelid::regclass || ' ' || o.conname
from pg_constraint as o
join audit_tables as t on t.oid = o.conrelid
where o.contype = 'f'
