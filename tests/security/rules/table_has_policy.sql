-- A table without a policy for the roles that work on it is a mistake, but for a day's partition, which none works on.
-- breaks: drop policy workflows_engine_all on lenses.workflows
select t.identity
from our_tables as t
where t.nspname <> 'lf_sql' and not exists (
  select from our_policies as p
  where p.polrelid = t.oid and p.polcmd = '*' and to_regrole('lf_sql_engine') = any(p.polroles)
)
and not t.is_day
or not exists (select from our_policies as p where p.polrelid = t.oid) and not t.is_day
