-- Every audit table refuses UPDATE, DELETE and TRUNCATE.
-- breaks: drop trigger action_logs_refuse_truncate on agents.action_logs
select t.identity || ' ' || v.verb
from audit_tables as t
cross join (values ('delete', 8), ('update', 16), ('truncate', 32)) as v (verb, bit)
where not exists (
  select from pg_trigger as g
  where g.tgrelid = t.oid and g.tgenabled = 'A' and g.tgfoid = to_regprocedure('lenses.tg_append_only()')
    and g.tgtype & v.bit = v.bit and g.tgtype & 2 = 2
)
