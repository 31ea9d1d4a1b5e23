-- A trigger that can refuse is enabled ALWAYS, whatever its name: replica mode does not pass it.
-- breaks: alter table lenses.workflow_versions enable trigger workflow_versions_check
select t.identity || ' ' || g.tgname
from our_tables as t
join pg_trigger as g on g.tgrelid = t.oid and not g.tgisinternal
join our_functions as f on f.oid = g.tgfoid
where g.tgenabled <> 'A'
  and (g.tgname ~ '(refuse|guard)' or g.tgtype & 2 <> 0 and f.body ~ '\m(raise\s+exception|return\s+(null|old))\M|\.fn_(check|refuse|require|know)_')
