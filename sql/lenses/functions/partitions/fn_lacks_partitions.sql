-- Whether a table of events or logs has no partition for tomorrow (UTC). Three look-ups by name.
create or replace function lenses.fn_lacks_partitions()
returns boolean
language sql
stable
set search_path = pg_catalog, pg_temp
as $$
select bool_or(
  to_regclass(t.name || '_' || to_char(now() at time zone 'UTC' + interval '1 day', 'YYYYMMDD'))
  is null)
from (
  values ('lenses.workflow_run_events'), ('agents.agent_run_events'), ('agents.action_logs')
) as t (name)
$$;
