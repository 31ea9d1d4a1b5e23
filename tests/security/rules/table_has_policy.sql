-- A table without a policy for the roles that work on it is a mistake.
-- breaks: drop policy workflows_engine_all on lenses.workflows
select t.identity
from our_tables as t
where t.nspname <> 'lf_sql' and not exists (
  select from our_policies as p
  where p.polrelid = t.oid and p.polcmd = '*' and to_regrole('lf_sql_engine') = any(p.polroles)
)
or not exists (select from our_policies as p where p.polrelid = t.oid)
